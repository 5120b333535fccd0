package medium

import "sync/atomic"

// MapWords maps the first n words of a file, which all processes that do so see and
// change as one memory: with compare-and-swap, in the order of the machine. The file
// is made long enough, with zeros; room on the disk is taken beforehand, as a word
// that has none when it is first written would end the program. It is an error where
// that cannot be relied on. The words must not be used after release.
func (f *File) MapWords(n int) (words []atomic.Uint64, release func() error, err error) {
	if err := f.folder.fails(OpMap, f.Name()); err != nil {
		return nil, nil, err
	}
	return mapWords(f.File, n)
}
