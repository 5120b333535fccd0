package larder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/key"
)

// A Read is a dependency that a computation found while it ran, such as a file, with
// its state at that time. The result is returned only while that state is the same.
type Read struct {
	Kind   ReadKind
	Name   string     // path, or name of the variable
	Digest key.Digest // zero if it did not exist
}

// ReadKind is a kind of [Read].
type ReadKind string

// Kinds of dependencies.
const (
	FileRead     ReadKind = "file"
	DirRead      ReadKind = "folder" // names in the directory
	EnvRead      ReadKind = "environment"
	VariableRead ReadKind = "variable" // package variable that is declared as an input of its package
)

// ReadFile is [os.ReadFile] for use in a computation. The result's record lists the
// file. A later hit requires that the file has the same content, or is still missing.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		AddDependencies(ctx, Read{FileRead, path, key.DigestOf(b)})
	} else if errors.Is(err, fs.ErrNotExist) {
		AddDependencies(ctx, Read{FileRead, path, key.Digest{}})
	}
	return b, err
}

// DependOnFile records that the computation reads the file itself, without [ReadFile]. The
// caller calls it before it opens the file. The result is not cached if something else
// may have been read: if, before the computation ends, the file, a link or directory on
// its path, or the directory in which it is missing changes, even if the change is
// undone.
func DependOnFile(ctx context.Context, path string) error {
	before := wayTo(path)
	d, state, err := key.DigestFile(ctx, path, nil)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		AddDependencies(ctx, Read{FileRead, path, d})
		if b, _ := ctx.Value(notebookKey{}).(*notebook); b != nil {
			b.use(usedFile{path, before, state, d})
		}
	}
	return err
}

// ReadDir is [os.ReadDir] for use in a computation. The result's record covers the
// names in the directory and the kinds of the files. It does not cover sizes and times,
// so Info of an entry returns an error: use [ReadFile] or [DependOnFile] for the file.
func ReadDir(ctx context.Context, path string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(path)
	if err == nil {
		AddDependencies(ctx, Read{DirRead, path, digestEntries(entries)})
		for i, e := range entries {
			entries[i] = listed{e}
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		AddDependencies(ctx, Read{DirRead, path, key.Digest{}})
	}
	return entries, err
}

// listed is an entry of a directory that returns only what is recorded of it.
type listed struct{ fs.DirEntry }

func (e listed) Info() (fs.FileInfo, error) {
	return nil, fmt.Errorf("larder: %s: sizes and times of files are not recorded: read it with larder.ReadFile, or note it with larder.DependOnFile", e.Name())
}

func digestEntries(entries []fs.DirEntry) key.Digest {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%q %v\n", e.Name(), e.Type())
	}
	return key.DigestOf([]byte(b.String()))
}

// Getenv is [os.Getenv] for use in a computation. The variable becomes part of the
// result's record.
func Getenv(ctx context.Context, name string) string {
	v, _ := LookupEnv(ctx, name)
	return v
}

// LookupEnv is [os.LookupEnv] for use in a computation.
func LookupEnv(ctx context.Context, name string) (string, bool) {
	v, ok := os.LookupEnv(name)
	AddDependencies(ctx, Read{EnvRead, name, digestEnv(v, ok)})
	return v, ok
}

func digestEnv(v string, ok bool) key.Digest {
	if !ok {
		return key.Digest{}
	}
	return key.DigestOf([]byte(v))
}

// now returns r with its present state.
func (r Read) now(ctx context.Context, files key.Memo) (Read, error) {
	var err error
	r.Digest = key.Digest{}
	switch r.Kind {
	case FileRead:
		r.Digest, _, err = key.DigestFile(ctx, r.Name, files)
	case DirRead:
		var entries []fs.DirEntry
		if entries, err = os.ReadDir(r.Name); err == nil {
			r.Digest = digestEntries(entries)
		}
	case EnvRead:
		r.Digest = digestEnv(os.LookupEnv(r.Name))
	case VariableRead:
		r.Digest, err = analysis.DigestInput(r.Name)
	default:
		return r, fmt.Errorf("larder: unknown kind of input %q", r.Kind)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r, err
}

// A notebook records the dependencies of a computation. It is safe for concurrent use.
type notebook struct {
	mu      sync.Mutex
	reads   []Read
	changed error // a dependency changed between two reads
	used    []usedFile
	doubt   error // why the result must not be cached
}

// ErrInputChanged is wrapped by Result.Uncached if a dependency changed during the
// computation, so that the result may be wrong.
var ErrInputChanged = errors.New("a dependency changed during the computation")

// NoStore prevents caching of the result of the computation around ctx, if any, and of
// results computed from it. A computation calls it when it finds that its key does not
// cover a dependency. Callers still get the result. The first reason counts; the
// warning in the log contains it.
func NoStore(ctx context.Context, reason error) {
	if b, _ := ctx.Value(notebookKey{}).(*notebook); b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.doubt = cmp.Or(b.doubt, reason)
	}
}

func (b *notebook) use(f usedFile) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = append(b.used, f)
}

// checkUnchanged returns an error if the result must not be cached, for example because a
// file changed while the computation read it.
func (b *notebook) checkUnchanged() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doubt != nil {
		return fmt.Errorf("%w: %w", ErrInputChanged, b.doubt)
	}
	for _, f := range b.used {
		if !f.unchanged() {
			return fmt.Errorf("%w: file %s was written to or replaced, or its name led elsewhere, while it was used", ErrInputChanged, f.path)
		}
	}
	return nil
}

type notebookKey struct{}

// withNotebook returns a context in which b records dependencies.
func withNotebook(ctx context.Context, b *notebook) context.Context {
	return context.WithValue(ctx, notebookKey{}, b)
}

// AddDependencies records dependencies of the computation around ctx, if any: as a rule those of
// another computation whose result it uses.
func AddDependencies(ctx context.Context, reads ...Read) {
	if len(reads) == 0 {
		return
	}
	b, _ := ctx.Value(notebookKey{}).(*notebook)
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range reads {
		i := slices.IndexFunc(b.reads, func(o Read) bool { return o.Kind == r.Kind && o.Name == r.Name })
		switch {
		case i < 0:
			b.reads = append(b.reads, r)
		case b.reads[i].Digest != r.Digest && b.changed == nil:
			b.changed = fmt.Errorf("larder: %s %s changed while it was used", r.Kind, r.Name)
		}
	}
}

func (b *notebook) pages() ([]Read, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reads, b.changed
}

// WithReads runs f and returns its result and its dependencies. It is for computations
// that are not cached themselves, but whose results others depend on. If the error is
// [ErrInputChanged], there is a result, but no result computed from it may be cached: see
// [NoStore].
func WithReads[T any](ctx context.Context, f func(context.Context) (T, error)) (v T, reads []Read, err error) {
	var b notebook
	if v, err = f(withNotebook(ctx, &b)); err != nil {
		return v, nil, err
	}
	reads, err = b.pages()
	return v, reads, cmp.Or(err, b.checkUnchanged())
}
