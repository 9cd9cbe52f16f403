"""Pictures of what a model holds, by matplotlib: neighbours of senses, the course of training."""
