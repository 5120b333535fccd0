package format

import (
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"
)

// Version is 2 since there are groups, which older programs would take for
// damage. A folder of an older version is read as it is.
const Version = 2

// VersionStart is what a FORMAT file begins with.
const VersionStart = "larder store, version "

// VersionText is the content of the FORMAT file: the checksum tells damage
// from another version.
func VersionText(version int) string {
	line := fmt.Sprint(VersionStart, version)
	return fmt.Sprintf("%s\nchecksum %016x\n", line, xxh3.HashString(line))
}

// ParseVersion returns the version that a FORMAT file says.
func ParseVersion(text []byte) (version int, err error) {
	line, _, _ := strings.Cut(string(text), "\n")
	if _, err = fmt.Sscanf(line, VersionStart+"%d", &version); err != nil || string(text) != VersionText(version) {
		return 0, fmt.Errorf("%w: bad checksum", ErrDamaged)
	}
	return version, nil
}
