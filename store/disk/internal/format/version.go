package format

import (
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"
)

// Version is the version of the format. Version 2 added groups, which older programs would
// treat as damage. A directory of an older version is read as it is.
const Version = 2

// VersionStart is the start of a FORMAT file.
const VersionStart = "larder store, version "

// VersionText returns the content of the FORMAT file: the checksum distinguishes damage
// from another version.
func VersionText(version int) string {
	line := fmt.Sprint(VersionStart, version)
	return fmt.Sprintf("%s\nchecksum %016x\n", line, xxh3.HashString(line))
}

// ParseVersion returns the version in a FORMAT file.
func ParseVersion(text []byte) (version int, err error) {
	line, _, _ := strings.Cut(string(text), "\n")
	if _, err = fmt.Sscanf(line, VersionStart+"%d", &version); err != nil || string(text) != VersionText(version) {
		return 0, fmt.Errorf("%w: bad checksum", ErrDamaged)
	}
	return version, nil
}
