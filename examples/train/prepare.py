"""Write the digits of scikit-learn, 1797 images of 8 x 8, as arrays."""

import pathlib
import sys

import numpy as np
from sklearn.datasets import load_digits

directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "data")
directory.mkdir(parents=True, exist_ok=True)
digits = load_digits()
np.save(directory / "images.npy", digits.images.astype(np.uint8))
np.save(directory / "labels.npy", digits.target.astype(np.int64))
