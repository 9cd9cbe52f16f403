"""What every floor above stands on: checks of arguments, progress, interrupts, optional packages, the device."""
