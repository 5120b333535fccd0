package underfolder_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
)

// TestNothingIsWrittenThroughLinks checks links where a sink writes and where killed
// writers leave files: nothing is written elsewhere, and nothing from elsewhere joins the
// dataset.
func TestNothingIsWrittenThroughLinks(t *testing.T) {
	other := map[string]string{"data/0_a.txt": "x", "data/1_a.txt": "y", "notes.txt": "z"}
	samples := component.One(dataset.List(
		dataset.NewSample(text("a", "x", false)), dataset.NewSample(text("a", "y", false)), dataset.NewSample())) // the last one needs a mark
	for name, lay := range map[string]func(path, other string) error{
		"a directory of a killed writer": func(path, other string) error {
			return os.Symlink(other, filepath.Join(filepath.Dir(path), ".out.larder-123"))
		},
		"a directory within": func(path, other string) error {
			stale := filepath.Join(filepath.Dir(path), ".out.larder-123")
			return errors.Join(os.MkdirAll(stale, 0o777), os.Symlink(other+"/data", stale+"/data"))
		},
		"the old directory's data": func(path, other string) error {
			return errors.Join(os.MkdirAll(path, 0o777), os.Symlink(other+"/data", path+"/data"))
		},
		"an old file": func(path, other string) error {
			return errors.Join(os.MkdirAll(path+"/data", 0o777), os.Symlink(other+"/data/0_a.txt", path+"/data/0_a.txt"))
		},
		"a mark": func(path, other string) error {
			return errors.Join(os.MkdirAll(path+"/data", 0o777), os.Symlink(other+"/notes.txt", path+"/.larder.json.new"))
		},
	} {
		for _, how := range []output.Overwrite{output.Replace, output.OverwriteFiles, output.NewFiles} {
			t.Run(fmt.Sprintf("%s, %s", name, how), func(t *testing.T) {
				elsewhere := directory(t, other)
				path := filepath.Join(t.TempDir(), "out")
				if err := lay(path, elsewhere); err != nil {
					t.Fatal(err)
				}
				_, err := write(t, path, how, samples)
				if got := files(t, elsewhere); !maps.Equal(got, other) {
					t.Errorf("elsewhere there is now %q", got)
				}
				if err != nil {
					return // it may refuse
				}
				if got := show(t, open(t, path)); len(got) != 3 {
					t.Errorf("written is %q", got)
				}
				for i := range 2 {
					name := fmt.Sprintf("data/%d_a.txt", i)
					info, err := os.Lstat(filepath.Join(path, name))
					if err != nil || !info.Mode().IsRegular() {
						t.Fatalf("%s is not a file: %v, %v", name, info, err)
					}
					if was, err := os.Stat(filepath.Join(elsewhere, name)); err != nil || os.SameFile(info, was) {
						t.Errorf("%s is the file of another dataset: %v", name, err)
					}
				}
			})
		}
	}
}

// TestSwapLooksOnceMore checks that a directory that gained other files during the write is
// left alone.
func TestSwapLooksOnceMore(t *testing.T) {
	for name, during := range map[string]func(path string) error{
		"a directory more": func(path string) error { return os.MkdirAll(path+"/thesis/chapter", 0o777) },
		"another directory": func(path string) error {
			return errors.Join(os.Rename(path, path+"-moved"), os.MkdirAll(path+"/data", 0o777), os.WriteFile(path+"/data/0_mine.txt", nil, 0o666))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := directory(t, map[string]string{"data/0_a.txt": "old"})
			var before map[string]string
			ds := dataset.Func(1, func(context.Context, int) (dataset.Sample, error) {
				err := during(path)
				before = files(t, filepath.Dir(path))
				return dataset.NewSample(text("a", "new", false)), err
			})
			if _, err := write(t, path, output.Replace, component.One(ds)); err == nil || !strings.Contains(err.Error(), path) {
				t.Fatalf("the error is %v", err)
			}
			if got := files(t, filepath.Dir(path)); !maps.Equal(got, before) {
				t.Errorf("there is %q, and was %q", got, before)
			}
			if _, err := os.Stat(path + "/thesis/chapter"); name == "a directory more" && err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOneFileGoesWhereItWasLookedAt checks a single changed file: it is written to the
// directory that was compared, not to another one that has taken its name.
func TestOneFileGoesWhereItWasLookedAt(t *testing.T) {
	for name, another := range map[string]bool{"the directory": false, "another directory": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			content, samples := "old", 2
			if another {
				samples = 1 // a file compared while the directory moves would be written, too
			}
			ds := dataset.Func(samples, func(_ context.Context, i int) (dataset.Sample, error) {
				if i < samples-1 || content == "old" {
					return dataset.NewSample(text("a", "old", false)), nil
				}
				if another {
					if err := errors.Join(os.Rename(path, path+"-moved"), os.CopyFS(path, os.DirFS(path+"-moved"))); err != nil {
						return dataset.Sample{}, err
					}
				}
				return dataset.NewSample(text("a", content, false)), nil
			})
			if _, err := write(t, path, output.Replace, component.One(ds)); err != nil {
				t.Fatal(err)
			}
			dir, before := fileInfo(t, path), files(t, path)
			content = "new"
			_, err := write(t, path, output.Replace, component.One(ds))
			if another {
				if err == nil || !strings.Contains(err.Error(), path) || !maps.Equal(before, files(t, path)) || !maps.Equal(before, files(t, path+"-moved")) {
					t.Errorf("the error is %v, and there is %q", err, files(t, path))
				}
				return
			}
			before["data/1_a.txt"] = "new"
			if err != nil || !maps.Equal(before, files(t, path)) || !os.SameFile(dir, fileInfo(t, path)) {
				t.Errorf("the error is %v, and there is %q", err, files(t, path))
			}
		})
	}
}

func fileInfo(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestItemsBehindLinksInTheTarget checks items read through a link in the target, which
// replacing would delete.
func TestItemsBehindLinksInTheTarget(t *testing.T) {
	elsewhere := directory(t, map[string]string{"data/0_a.txt": "x"})
	path := directory(t, map[string]string{"data/0_a.txt": "y"})
	outside := filepath.Join(t.TempDir(), "a.txt")
	if err := errors.Join(os.Symlink(elsewhere+"/data/0_a.txt", path+"/data/1_a.txt"), os.Symlink(path+"/data/1_a.txt", outside)); err != nil {
		t.Fatal(err)
	}
	ds := dataset.List(dataset.NewSample(dataset.Field{Key: "a", Item: dataset.File(outside, nil)}))
	if _, err := write(t, path, output.Replace, component.One(ds)); err == nil || !strings.Contains(err.Error(), "refusing to write") {
		t.Errorf("the error is %v", err)
	}
}

// TestLinkThatAppearsWhileFilesAreWritten checks that it leads no file out of the
// directory.
func TestLinkThatAppearsWhileFilesAreWritten(t *testing.T) {
	other := map[string]string{"data/0_a.txt": "mine", "data/0_b.txt": "mine"}
	for _, how := range []output.Overwrite{output.OverwriteFiles, output.NewFiles} {
		elsewhere, path := directory(t, other), directory(t, map[string]string{"data/1_a.txt": "old"})
		ds := dataset.Func(1, func(context.Context, int) (dataset.Sample, error) {
			err := errors.Join(os.Rename(path+"/data", path+"/was"), os.Symlink(elsewhere+"/data", path+"/data"))
			return dataset.NewSample(text("a", "new", false), text("c", "new", false)), err
		})
		if _, err := write(t, path, how, component.One(ds)); err == nil {
			t.Errorf("%s: no error", how)
		}
		if got := files(t, elsewhere); !maps.Equal(got, other) {
			t.Errorf("%s: elsewhere there is now %q", how, got)
		}
	}
}
