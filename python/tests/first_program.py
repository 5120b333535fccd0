"""The first program of a user: a function of the script over images, in batches."""

import sys
from typing import Any

import larder


def brightness(image: Any, scale: int = 255) -> float:
    return float(image.mean()) / scale


if __name__ == "__main__":
    photos = larder.images(sys.argv[1]).map(brightness, keep=True)
    for batch in photos.loader(32):
        print(sorted(batch), [round(float(b), 3) for b in batch["brightness"]])
