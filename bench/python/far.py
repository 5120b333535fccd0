"""Read an epoch of archives over http with webdataset and its shuffle buffer, and print
the number of samples: for BenchmarkPlacesBesideWebDataset.
"""

import sys

import webdataset

url, buffer = sys.argv[1], int(sys.argv[2])
samples = webdataset.WebDataset(url, shardshuffle=100, empty_check=False).shuffle(buffer)
print(sum(1 for sample in samples if sample["bin"] is not None))
