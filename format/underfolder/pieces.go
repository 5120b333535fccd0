package underfolder

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/internal/filecopy"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/filestate"
	"github.com/larder-data/larder/key"
)

// The files of samples are reused without reading them if the samples have the same
// inputs and the files have the recorded names and states.

// Pieces reports that names have as many digits as the last index. Symbolic links cannot
// be reused, as the files that they lead to may change.
func (s Sink) Pieces(_ context.Context, in component.Samples) (on []string, ok bool, err error) {
	return []string{strconv.Itoa(digits(in.Len()))}, s.Overwrite == output.Replace && s.Copy != filecopy.SymbolicLink, nil
}

// digits returns the number of digits of the indices of n samples.
func digits(n int) int { return len(strconv.Itoa(max(0, n-1))) }

// Standing reports which samples have reusable files.
func (s Sink) Standing(env *component.Env, p *component.OutputChunks) ([]component.Copy, error) {
	found, err := findStanding(env.Path(s.Path), p)
	return found.copies, err
}

// standing describes the reusable part of an earlier output.
type standing struct {
	copies []component.Copy
	names  []string // of the files
	files  []sampleFile
	at     []bool // by sample; nil if nothing is reusable
	shares []bool // samples that also have shared items
}

// has reports whether the sample's own items are reusable.
func (s *standing) has(i int) bool { return s.at != nil && s.at[i] }

// findStanding finds the reusable files of a directory.
func findStanding(path string, p *component.OutputChunks) (found standing, err error) {
	if p == nil || len(p.Before.Pieces) == 0 {
		return found, nil
	}
	files, err := filesThere(filepath.Join(path, dataDir))
	if err != nil {
		return found, err
	}
	before, first := make(map[int]*component.Piece, len(p.Before.Pieces)), 0
	for i := range p.Before.Pieces {
		before[first] = &p.Before.Pieces[i]
		first += p.Before.Pieces[i].Samples
	}
	n := 0
	for _, s := range p.Chunks {
		n += s.Samples
	}
	found.at, found.shares, first = make([]bool, n), make([]bool, n), 0
	for _, s := range p.Chunks {
		var own []sampleFile
		own, files = splitFiles(files, first+s.Samples)
		if was := before[first]; was != nil && was.Chunk == s && was.Sum == sumOf(own) {
			found.add(first, s.Samples, own, was.Bytes > 0)
		}
		first += s.Samples
	}
	return found, nil
}

// add records that the samples of a chunk are reusable, with their files.
func (s *standing) add(first, samples int, files []sampleFile, shares bool) {
	for i := range samples {
		s.at[first+i], s.shares[first+i] = true, shares
	}
	for _, f := range files {
		s.names = append(s.names, filepath.Join(dataDir, f.name))
	}
	s.files = append(s.files, files...)
	if n := len(s.copies); n > 0 && s.copies[n-1].Now+s.copies[n-1].Samples == first {
		s.copies[n-1].Samples += samples
	} else if samples > 0 {
		s.copies = append(s.copies, component.Copy{Was: first, Now: first, Samples: samples})
	}
}

// sampleFile is a file of a sample, with its state.
type sampleFile struct {
	index int64
	name  string
	stat  key.FileStat
}

func newSampleFile(name string, s key.FileStat) (f sampleFile, ok bool) {
	digits, _, _ := strings.Cut(name, "_")
	index, ok := parseIndex(digits)
	return sampleFile{index, name, s}, ok
}

func sortFiles(files []sampleFile) {
	slices.SortFunc(files, func(a, b sampleFile) int {
		return cmp.Or(cmp.Compare(a.index, b.index), strings.Compare(a.name, b.name))
	})
}

// filesThere lists the files of samples in a directory, by sample. A missing directory
// has none.
func filesThere(dir string) (files []sampleFile, err error) {
	err = filestate.Files(dir, func(name string, s key.FileStat) {
		if f, ok := newSampleFile(name, s); ok {
			files = append(files, f)
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	sortFiles(files)
	return files, err
}

// splitFiles returns the files of samples before end, and the others.
func splitFiles(files []sampleFile, end int) (before, others []sampleFile) {
	n := slices.IndexFunc(files, func(f sampleFile) bool { return f.index >= int64(end) })
	if n < 0 {
		n = len(files)
	}
	return files[:n], files[n:]
}

// sumOf identifies the files of a chunk and their states.
func sumOf(files []sampleFile) [16]byte {
	b := make([]byte, 0, 64)
	for _, f := range files {
		b = append(binary.AppendUvarint(b, uint64(len(f.name))), f.name...)
		for _, n := range []uint64{f.stat.Dev, f.stat.Ino, uint64(f.stat.Size), uint64(f.stat.Mtime), uint64(f.stat.Ctime)} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	return xxh3.Hash128(b).Bytes()
}

// seal records the chunks of a written dataset. It excludes samples with copies of items
// that others share, because these copies depend on other samples.
func (w *writer) seal() {
	p := w.env.Pieces
	p.Copied = w.stands.copies
	p.After.Pieces = make([]component.Piece, len(p.Chunks))
	apart, first := make([]bool, len(p.Chunks)), 0
	for i, s := range p.Chunks {
		at := &p.After.Pieces[i]
		at.Chunk = s
		for j := first; j < first+s.Samples; j++ {
			at.Bytes += int64(w.shares[j])
			apart[i] = apart[i] || w.apart[j]
		}
		first += s.Samples
	}
	p.Seal = func(all iter.Seq2[string, key.FileStat]) bool {
		files := sorted(all)
		sealFiles(p.After.Pieces, apart, files)
		return w.stands.among(files)
	}
}

// among reports whether the reusable files have the recorded content. They may have got
// another name, which changes their change time.
func (s *standing) among(files []sampleFile) bool {
	at := 0
	for _, f := range s.files {
		for at < len(files) && (files[at].index < f.index || files[at].index == f.index && files[at].name < f.name) {
			at++
		}
		if at == len(files) || files[at].name != f.name {
			return false
		}
		now := files[at].stat
		if now.Ctime = f.stat.Ctime; now != f.stat {
			return false
		}
	}
	return true
}

// sorted returns the files of samples among all files of an output.
func sorted(all iter.Seq2[string, key.FileStat]) (files []sampleFile) {
	for path, s := range all {
		name, within := strings.CutPrefix(path, dataDir+"/")
		if f, ok := newSampleFile(name, s); ok && within {
			files = append(files, f)
		}
	}
	sortFiles(files)
	return files
}

// sealFiles records the states of the files of chunks. A chunk that is apart keeps the
// zero sum, which means no files.
func sealFiles(pieces []component.Piece, apart []bool, files []sampleFile) {
	first := 0
	for i := range pieces {
		var own []sampleFile
		first += pieces[i].Samples
		if own, files = splitFiles(files, first); !apart[i] {
			pieces[i].Sum = sumOf(own)
		}
	}
}
