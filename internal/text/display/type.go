package display

import (
	"regexp"
	"strings"
)

// Type returns the name of a Go type in messages, for errors of libraries that use
// names such as "map[string]interface {}". It returns "" for other names.
func Type(name string) string {
	name = strings.TrimSpace(name)
	for _, t := range types {
		if t.is.MatchString(name) {
			return t.called
		}
	}
	return ""
}

var types = []struct {
	is     *regexp.Regexp
	called string
}{
	{regexp.MustCompile(`^(<nil>|nil)$`), "null"},
	{regexp.MustCompile(`^(unknown|any|interface ?\{\})$`), "a value of unknown type"},
	{regexp.MustCompile(`^(integer|u?int(8|16|32|64)?)$`), "an integer"},
	{regexp.MustCompile(`^\*?big\.Int$`), "an integer of more than 64 bits"},
	{regexp.MustCompile(`^float(32|64)?$`), "a number"},
	{regexp.MustCompile(`^string$`), "a string"},
	{regexp.MustCompile(`^bool(ean)?$`), "a boolean"},
	{regexp.MustCompile(`^(\[\]byte|\[\]uint8)$`), "bytes"},
	{regexp.MustCompile(`^(\[\d*\].+|array|slice)$`), "a list"},
	{regexp.MustCompile(`^map(\[.*)?$`), "a mapping"},
	{regexp.MustCompile(`^(\*?(image\.[A-Z]\w*|array\.GrayAlpha\w*))$`), "an image"},
	{regexp.MustCompile(`^\*?array\.Array$`), "an array"},
	{regexp.MustCompile(`^codec\.Table$`), "a table"},
	{regexp.MustCompile(`^time\.Time$`), "a time"},
	{regexp.MustCompile(`^time\.Duration$`), "a duration"},
	{regexp.MustCompile(`^func\(.*$`), "a function"},
}
