package disk

import (
	"fmt"
	"strings"

	"github.com/zeebo/xxh3"
)

// formatVersion is 2 since there are groups, which older programs would take for
// damage. A folder of an older version is read as it is.
const formatVersion = 2

const formatStart = "larder store, version "

// formatText is the content of the FORMAT file: the checksum tells damage
// from another version.
func formatText(version int) string {
	line := fmt.Sprint(formatStart, version)
	return fmt.Sprintf("%s\nchecksum %016x\n", line, xxh3.HashString(line))
}

// parseFormat returns the version that a FORMAT file says.
func parseFormat(text []byte) (version int, err error) {
	line, _, _ := strings.Cut(string(text), "\n")
	if _, err = fmt.Sscanf(line, formatStart+"%d", &version); err != nil || string(text) != formatText(version) {
		return 0, fmt.Errorf("%w: bad checksum", errDamaged)
	}
	return version, nil
}
