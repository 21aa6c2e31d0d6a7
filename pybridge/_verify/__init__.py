"""Old and new code, run side by side and compared: `pybridge migrate --verify`.

`pieces` cuts both into statements that belong together, `verify` runs each in a process of its own inside `fence`,
where `old_side` or `new_side` runs it piece by piece and writes down in a `trace` what its names hold (`values`);
Python gets the random numbers that Julia drew from a `tape`. `steps` goes through the traces and has them compared
(`compare`).
"""
