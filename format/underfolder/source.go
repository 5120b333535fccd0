package underfolder

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterSource("underfolder", "Reads a dataset from a directory of files data/<index>_<key>.<ext>, with items shared by all samples next to data.",
		func(_ context.Context, env *component.Env, p Source) (component.Samples, error) {
			return Open(env.Path(p.Path), env.Files, env.Log)
		})
}

// Source configures the directory to read.
type Source struct {
	Path component.Path `param:"path,required" doc:"the dataset's directory"`
}

// Inputs returns the directory, and the target of data if that is a link; no other links
// are followed.
func (s Source) Inputs(env *component.Env) []pathguard.Input {
	path := env.Path(s.Path)
	return []pathguard.Input{{Path: path, Flat: true}, {Path: filepath.Join(path, dataDir), Flat: true}}
}

// Listed reports that names, sizes and times identify the input.
func (s Source) Listed() bool { return true }

// Picks reports whether a file is an item, or has the number of samples.
func (s Source) Picks(file string) bool {
	own, isOwn := strings.CutPrefix(file, dataDir+"/")
	if isOwn {
		digits, rest, _ := strings.Cut(own, "_")
		key, ext := splitName(rest)
		_, ok := parseIndex(digits)
		return ok && key != "" && ext != "" && !strings.Contains(own, "/")
	}
	key, ext := splitName(file)
	return file == dataDir || file == markName || key != "" && ext != "" && !strings.Contains(file, "/")
}

// Open lists a directory and returns its samples; items are read on demand. memo, which
// may be nil, caches digests of files. log receives warnings about names that are not
// items, and about keys that are both shared and a sample's own.
func Open(root string, memo key.Memo, log *slog.Logger) (component.Samples, error) {
	l, err := list(root)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.Default()
	}
	if l.odd > 0 {
		log.Warn("files that are not items are ignored", "directory", root, "files", l.odd, "such as", strings.Join(l.skipped, ", "))
	}
	f := &directory{listing: l, memo: memo}
	for _, name := range l.shared {
		k, _ := splitName(name)
		f.root = append(f.root, dataset.Field{Key: k, Item: l.File(filepath.Join(root, name), memo), Shared: true})
	}
	f.warnClashes(log)
	return f, nil
}

// directory is the dataset in a directory.
type directory struct {
	*listing
	memo key.Memo
	root []dataset.Field
}

// warnClashes warns about shared items that some sample has of its own.
func (f *directory) warnClashes(log *slog.Logger) {
	for _, shared := range f.root {
		i := slices.IndexFunc(f.files, func(own file) bool {
			k, _ := splitName(f.rests[own.rest])
			return k == shared.Key
		})
		if i >= 0 {
			log.Warn("an item is both shared and in a sample; that of the sample is used", "item", shared.Key,
				"shared", dataset.Describe(shared.Item.Origin()), "own", filepath.Join(f.listing.root, dataDir, f.name(f.files[i])))
		}
	}
}

func (f *directory) Len() int { return f.samples }

// first returns the index of the first file of a sample.
func (f *directory) first(i int) int {
	at, _ := slices.BinarySearchFunc(f.files, int64(i), func(e file, i int64) int { return cmp.Compare(e.index, i) })
	return at
}

func (f *directory) At(_ context.Context, i int) (dataset.Sample, error) {
	if i < 0 || i >= f.samples {
		return dataset.Sample{}, &dataset.IndexError{Index: i, Len: f.samples}
	}
	at := f.first(i)
	fields := make([]dataset.Field, 0, 8)
	for ; at < len(f.files) && f.files[at].index == int64(i); at++ {
		k, _ := splitName(f.rests[f.files[at].rest])
		path := filepath.Join(f.listing.root, dataDir, f.name(f.files[at]))
		fields = append(fields, dataset.Field{Key: k, Item: f.File(path, f.memo)})
	}
	for _, shared := range f.root {
		if !slices.ContainsFunc(fields, func(own dataset.Field) bool { return own.Key == shared.Key }) {
			fields = append(fields, shared)
		}
	}
	return dataset.NewSample(fields...), nil
}

// Chunks reports that a sample depends on its files and on the shared ones.
func (f *directory) Chunks(ctx context.Context) ([]dataset.Chunk, error) {
	return f.listing.Chunks(ctx, f.samples, f.memo, func(i int) (on, files []string) {
		for at := f.first(i); at < len(f.files) && f.files[at].index == int64(i); at++ {
			on = append(on, f.rests[f.files[at].rest])
			files = append(files, filepath.Join(f.listing.root, dataDir, f.name(f.files[at])))
		}
		on = append(append(on, "/"), f.shared...)
		for _, name := range f.shared {
			files = append(files, filepath.Join(f.listing.root, name))
		}
		return on, files
	})
}
