"""Old and new code, run side by side and compared: `pybridge migrate --verify`."""
