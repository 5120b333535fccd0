package disk

import (
	"encoding/hex"
	"regexp"
	"strings"
)

// The names that a store gives. What has another name is somebody else's and
// stays as it is, wherever in the folder it lies.
var (
	touchNames = regexp.MustCompile(`^[0-9a-f]{16}\` + touchSuffix + `$`)
)

func isTouchName(name string) bool { return touchNames.MatchString(name) }

// isIndexName knows the index of a pack.
func isIndexName(name string) bool {
	stem, ok := strings.CutSuffix(name, indexSuffix)
	if !ok {
		return false
	}
	_, ok = parsePackName(stem + packSuffix)
	return ok
}

// isManifestName knows the digest of a manifest's name.
func isManifestName(name string) bool {
	_, ok := parseBlobName(name)
	return ok
}

// isFanName knows the folders of blobs.
func isFanName(name string) bool {
	_, err := hex.DecodeString(name)
	return len(name) == 2 && err == nil
}
