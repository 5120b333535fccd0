package disk

import (
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// Names of the files of a store. Files with other names do not belong to it and stay
// untouched, wherever they are in the directory.
var (
	touchNames = regexp.MustCompile(`^[0-9a-f]{16}\` + touchSuffix + `$`)
)

// ownNames recognizes the names of the store in each directory.
var ownNames = map[string]func(name string) bool{
	vfs.Packs:      isPackName,
	vfs.Blobs:      isFanName,
	vfs.Manifests:  isDigestName,
	vfs.Touches:    isTouchName,
	vfs.Quarantine: vfs.IsAsideName,
	vfs.Temps:      vfs.IsTempName,
	vfs.Trash:      isDigestName,
}

// isPackName recognizes packs and their indexes.
func isPackName(name string) bool {
	_, ok := parsePackName(name)
	return ok || isIndexName(name)
}

func isTouchName(name string) bool { return touchNames.MatchString(name) }

// isIndexName recognizes the index of a pack.
func isIndexName(name string) bool {
	stem, ok := strings.CutSuffix(name, indexSuffix)
	if !ok {
		return false
	}
	_, ok = parsePackName(stem + packSuffix)
	return ok
}

// isDigestName recognizes manifests, by the digest of a name, and blobs.
func isDigestName(name string) bool {
	_, ok := parseBlobName(name)
	return ok
}

// isFanName recognizes the directories of blobs.
func isFanName(name string) bool {
	_, err := hex.DecodeString(name)
	return len(name) == 2 && err == nil
}
