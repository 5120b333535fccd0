package vfs

import "sync/atomic"

// MapWords maps the first n words of a file as memory that all processes share, with
// compare-and-swap in the order of the machine. It extends the file with zeros and
// allocates its space on the disk first: a first write to a word without space would end
// the program. It returns an error if the file system does not guarantee that. The words
// must not be used after release.
func (f *File) MapWords(n int) (words []atomic.Uint64, release func() error, err error) {
	if err := f.directory.fails(OpMap, f.Name()); err != nil {
		return nil, nil, err
	}
	return mapWords(f.File, n)
}
