package lazy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// File1 returns a lazy function that calls f. f writes a file at the path that it
// receives, a name with the extension ext (such as ".stl", or ""). The path is not part
// of the key. The value is the content of the file; [Export] writes it to another path.
func File1[A any](name, ext string, f func(ctx context.Context, path string, a A) error, o ...Options) func(Value[A]) Value[[]byte] {
	fn := newFunction(name, f, o, func(ctx context.Context, v []any) ([]byte, error) {
		return written(ext, func(path string) error { return f(ctx, path, as[A](v[0])) })
	})
	fn.params = []key.Param{{Name: "extension", Value: ext}}
	return func(a Value[A]) Value[[]byte] { return Value[[]byte]{fn.apply(a.node())} }
}

// File2 is [File1] for a function of two arguments.
func File2[A, B any](name, ext string, f func(ctx context.Context, path string, a A, b B) error, o ...Options) func(Value[A], Value[B]) Value[[]byte] {
	fn := newFunction(name, f, o, func(ctx context.Context, v []any) ([]byte, error) {
		return written(ext, func(path string) error { return f(ctx, path, as[A](v[0]), as[B](v[1])) })
	})
	fn.params = []key.Param{{Name: "extension", Value: ext}}
	return func(a Value[A], b Value[B]) Value[[]byte] { return Value[[]byte]{fn.apply(a.node(), b.node())} }
}

// written returns the content of the file that write creates in a temporary directory.
func written(ext string, write func(path string) error) ([]byte, error) {
	dir, err := os.MkdirTemp("", "larder-file-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "file"+ext)
	if err := write(path); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the function wrote no file at its path (%s)", filepath.Base(path))
	}
	return b, err
}

// Export evaluates a value and writes it to a file. The file is a copy, so changes to
// it do not affect the cache. It appears complete or not at all. Export does not touch
// a file that already has the content.
func Export(ctx context.Context, l *larder.Larder, v Value[[]byte], path string) error {
	b, err := v.Get(ctx, l)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && string(old) == string(b) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("lazy: export: %w", err)
	}
	defer os.Remove(f.Name()) // fails after the rename
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("lazy: export %s: %w", path, err)
	}
	return nil
}
