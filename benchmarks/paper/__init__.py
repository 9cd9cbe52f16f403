"""The experiments of Lee & Chen (2017), a command each; see README.md beside this file."""
