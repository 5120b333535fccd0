package display

import "regexp"

// WithoutPackages returns a message without the names of Larder's packages, with which
// its errors begin.
func WithoutPackages(message string) string {
	return packages.ReplaceAllString(message, "$1")
}

var packages = regexp.MustCompile(`(^|: )(?:(?:larder|store|lazy|native|loader): )+`)
