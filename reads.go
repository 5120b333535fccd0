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

	"github.com/larder-data/larder/key"
)

// A Read is something outside its arguments that a computation used, with what
// it was then. It is a part of the result's name, found out while the result
// was made: as long as it is the same the result is handed out.
type Read struct {
	Kind   ReadKind
	Name   string     // path, or name of the variable
	Digest key.Digest // of what was read; zero if it was not there
}

// ReadKind is a sort of [Read].
type ReadKind string

// What can be read.
const (
	FileRead     ReadKind = "file"
	FolderRead   ReadKind = "folder" // the names in it
	EnvRead      ReadKind = "environment"
	VariableRead ReadKind = "variable" // of a package, declared as an input of it
)

// ReadFile is [os.ReadFile] for use in a computation: that the file was read
// becomes part of the result's record, and the next hit is one only if the file
// has the same content, or is missing as it was.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		Note(ctx, Read{FileRead, path, key.DigestOf(b)})
	} else if errors.Is(err, fs.ErrNotExist) {
		Note(ctx, Read{FileRead, path, key.Digest{}})
	}
	return b, err
}

// UseFile notes that the computation reads the file by itself, as [ReadFile]
// does for one that it reads for it. It is called before the file is opened.
// If the file is not left alone until the computation has ended, or the links and
// folders that lead to it, or the folder in which it is missing, so that something
// else may have been read, the result is not kept, even if all is again what it
// was.
func UseFile(ctx context.Context, path string) error {
	before := wayTo(path)
	d, state, err := key.DigestFile(ctx, path, nil)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		Note(ctx, Read{FileRead, path, d})
		if b, _ := ctx.Value(notebookKey{}).(*notebook); b != nil {
			b.use(usedFile{path, before, state, d})
		}
	}
	return err
}

// ReadDir is [os.ReadDir] for use in a computation: the names in the folder,
// and what kinds of files they are, become part of the result's record. Sizes and
// times do not, so Info of an entry is an error: read the file by [ReadFile], or
// note it by [UseFile].
func ReadDir(ctx context.Context, path string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(path)
	if err == nil {
		Note(ctx, Read{FolderRead, path, digestEntries(entries)})
		for i, e := range entries {
			entries[i] = listed{e}
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		Note(ctx, Read{FolderRead, path, key.Digest{}})
	}
	return entries, err
}

// A listed entry of a folder says what is recorded of it, and no more.
type listed struct{ fs.DirEntry }

func (e listed) Info() (fs.FileInfo, error) {
	return nil, fmt.Errorf("larder: %s: sizes and times of files are not recorded: read it with larder.ReadFile, or note it with larder.UseFile", e.Name())
}

func digestEntries(entries []fs.DirEntry) key.Digest {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%q %v\n", e.Name(), e.Type())
	}
	return key.DigestOf([]byte(b.String()))
}

// Getenv is [os.Getenv] for use in a computation: the variable becomes part of
// the result's record.
func Getenv(ctx context.Context, name string) string {
	v, _ := LookupEnv(ctx, name)
	return v
}

// LookupEnv is [os.LookupEnv] for use in a computation.
func LookupEnv(ctx context.Context, name string) (string, bool) {
	v, ok := os.LookupEnv(name)
	Note(ctx, Read{EnvRead, name, digestEnv(v, ok)})
	return v, ok
}

func digestEnv(v string, ok bool) key.Digest {
	if !ok {
		return key.Digest{}
	}
	return key.DigestOf([]byte(v))
}

// now returns r with what it reads now.
func (r Read) now(ctx context.Context, files key.Memo) (Read, error) {
	var err error
	r.Digest = key.Digest{}
	switch r.Kind {
	case FileRead:
		r.Digest, _, err = key.DigestFile(ctx, r.Name, files)
	case FolderRead:
		var entries []fs.DirEntry
		if entries, err = os.ReadDir(r.Name); err == nil {
			r.Digest = digestEntries(entries)
		}
	case EnvRead:
		r.Digest = digestEnv(os.LookupEnv(r.Name))
	case VariableRead:
		r.Digest, err = digestVariable(r.Name)
	default:
		return r, fmt.Errorf("larder: unknown kind of input %q", r.Kind)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r, err
}

// A notebook takes down what a computation reads. It may be used by many
// goroutines.
type notebook struct {
	mu      sync.Mutex
	reads   []Read
	changed error // something was read twice and not the same
	used    []usedFile
	doubt   error // why the result is not to be kept
}

// ErrUnsteady is wrapped by the reason for which a result is handed out and not
// kept where what it was made from changed meanwhile: it may be wrong.
var ErrUnsteady = errors.New("what it was made from changed meanwhile")

// Unkeep has the result of the computation around ctx, if any, handed out and
// not kept, nor what is made of it: for those who find out, while it runs, that
// its key does not cover what it depends on. The first reason counts; the
// warning in the log gives it.
func Unkeep(ctx context.Context, reason error) {
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

// unsteady returns an error if the result is not to be kept: if a file that was
// read by the computation itself was not left alone meanwhile, for one.
func (b *notebook) unsteady() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doubt != nil {
		return fmt.Errorf("%w: %w", ErrUnsteady, b.doubt)
	}
	for _, f := range b.used {
		if !f.steady() {
			return fmt.Errorf("%w: file %s was written to or replaced, or its name led elsewhere, while it was used", ErrUnsteady, f.path)
		}
	}
	return nil
}

type notebookKey struct{}

// withNotebook returns a context in which reads are taken down in b.
func withNotebook(ctx context.Context, b *notebook) context.Context {
	return context.WithValue(ctx, notebookKey{}, b)
}

// Note says that the computation around ctx, if any, depends on such reads: as
// a rule on those of another computation, whose result it uses.
func Note(ctx context.Context, reads ...Read) {
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

// pages returns what was taken down.
func (b *notebook) pages() ([]Read, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reads, b.changed
}

// WithReads runs f and returns, with its result, what it read through this
// package: for computations that are not kept themselves, but whose results
// others depend on. If the error is [ErrUnsteady] there is a result, which
// nothing that is made of it may be kept with: see [Unkeep].
func WithReads[T any](ctx context.Context, f func(context.Context) (T, error)) (v T, reads []Read, err error) {
	var b notebook
	if v, err = f(withNotebook(ctx, &b)); err != nil {
		return v, nil, err
	}
	reads, err = b.pages()
	return v, reads, cmp.Or(err, b.unsteady())
}
