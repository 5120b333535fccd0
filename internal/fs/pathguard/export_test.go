package pathguard

import "testing"

// SetFolds makes a file system treat names that differ only in case as one.
func SetFolds(t *testing.T) {
	t.Helper()
	was := folds
	t.Cleanup(func() { folds = was })
	folds = func(string) bool { return true }
}

// Folds reports whether a directory treats names that differ only in case as one.
func Folds(dir string) bool { return folds(dir) }
