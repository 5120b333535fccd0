package pathguard

import "testing"

// SetFolds has a file system take names for one that differ in case alone.
func SetFolds(t *testing.T) {
	t.Helper()
	was := folds
	t.Cleanup(func() { folds = was })
	folds = func(string) bool { return true }
}

// Folds reports whether a folder takes names for one that differ in case alone.
func Folds(dir string) bool { return folds(dir) }
