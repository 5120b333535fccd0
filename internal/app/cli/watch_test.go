package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBurst(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []time.Duration // one after another
		took    time.Duration
	}{
		{"one", []time.Duration{0}, 200 * time.Millisecond},
		{"late", []time.Duration{time.Hour}, time.Hour + 200*time.Millisecond},
		{"three", []time.Duration{0, 150 * time.Millisecond, 150 * time.Millisecond}, 500 * time.Millisecond},
		{"two bursts", []time.Duration{0, 250 * time.Millisecond}, 200 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals := make(chan struct{}, len(c.changes))
				var changes sync.WaitGroup
				changes.Go(func() {
					for _, d := range c.changes {
						<-time.After(d)
						signals <- struct{}{}
					}
				})
				start := time.Now()
				if !burst(t.Context(), signals) {
					t.Error("it ended without a signal")
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				changes.Wait()
			})
		})
	}
}

func TestBurstThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		signals := make(chan struct{})
		go func() {
			for ctx.Err() == nil {
				<-time.After(10 * time.Millisecond)
				select {
				case signals <- struct{}{}:
				case <-ctx.Done():
				}
			}
		}()
		start := time.Now()
		if !burst(ctx, signals) || time.Since(start) > burstTime+10*time.Millisecond {
			t.Errorf("took %v", time.Since(start))
		}
		cancel()
		if burst(ctx, nil) {
			t.Error("it went on after the signal to end")
		}
	})
}

func TestWhatCounts(t *testing.T) {
	w := &watcher{
		paths: []string{"/home/ann/flow/flow.yaml", "/home/ann/data", "/home/ann/cache/input"},
		own:   []string{"/home/ann/data/out", "/home/ann/events", "/home/ann/cache"},
	}
	for name, want := range map[string]bool{
		"/home/ann/flow/flow.yaml":             true,
		"/home/ann/flow/.flow.yaml.swp":        false,
		"/home/ann/flow/out":                   false,
		"/home/ann/data":                       true, // deleted, or created again
		"/home/ann":                            true,
		"/":                                    true,
		"/home/ann/data/a/b.png":               true,
		"/home/ann/database":                   false,
		"/home/ann/data/out":                   false,
		"/home/ann/data/out/data/1_x.png":      false,
		"/home/ann/data/.out.larder-12":        false,
		"/home/ann/data/.out.larder-12/data/x": false,
		"/home/ann/data/out2":                  true,
		"/home/ann/events":                     false,
		"/home/ann/cache/packs/1":              false,
		"/home/ann/cache/input/x":              true,
	} {
		if got := w.counts(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	w.near = "/home/ann/flow"
	if !w.counts("/home/ann/flow/script.sh") || w.counts("/home/ann/flow/out/x") {
		t.Error("of a directory near a wrong flow file, all that lies in it counts, and nothing deeper")
	}
}

// TestWatcher changes files in every way that programs do. A watcher must report each
// change alone.
func TestWatcher(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"written": func(dir string) error { return os.WriteFile(dir+"/in/a", []byte("new"), 0o666) },
		"written in place": func(dir string) error {
			f, err := os.OpenFile(dir+"/in/sub/b", os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("x")
			return errors.Join(err, f.Close())
		},
		"replaced by rename": func(dir string) error {
			return errors.Join(os.WriteFile(dir+"/new", nil, 0o666), os.Rename(dir+"/new", dir+"/file"))
		},
		"new":               func(dir string) error { return os.WriteFile(dir+"/in/sub/c", nil, 0o666) },
		"new directory":     func(dir string) error { return os.Mkdir(dir+"/in/sub/d", 0o777) },
		"removed":           func(dir string) error { return os.Remove(dir + "/in/sub/b") },
		"directory removed": func(dir string) error { return os.RemoveAll(dir + "/in") },
		"directory renamed": func(dir string) error { return os.Rename(dir+"/in", dir+"/away") },
		"came to be":        func(dir string) error { return os.MkdirAll(dir+"/none/at/all", 0o777) },
		"link redirected": func(dir string) error {
			return errors.Join(os.Symlink("elsewhere", dir+"/new"), os.Rename(dir+"/new", dir+"/link"))
		},
		"behind a link": func(dir string) error { return os.WriteFile(dir+"/target/a", []byte("x"), 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			err := errors.Join(
				os.MkdirAll(dir+"/in/sub", 0o777), os.Mkdir(dir+"/out", 0o777), os.Mkdir(dir+"/target", 0o777),
				os.WriteFile(dir+"/in/a", nil, 0o666), os.WriteFile(dir+"/in/sub/b", nil, 0o666), os.WriteFile(dir+"/file", nil, 0o666),
				os.WriteFile(dir+"/target/a", nil, 0o666), os.Symlink("target", dir+"/link"))
			if err != nil {
				t.Fatal(err)
			}
			w, err := newWatcher()
			if err != nil {
				t.Fatal(err)
			}
			w.look([]string{dir + "/in", dir + "/file", dir + "/none/at/all/deep", dir + "/link"}, []string{dir + "/in/own"}, "", nil)
			// These changes do not count. They come first, so that a wrong report would
			// come first.
			err = errors.Join(
				os.WriteFile(dir+"/other", nil, 0o666), os.WriteFile(dir+"/out/x", nil, 0o666), os.Mkdir(dir+"/in/own", 0o777),
				os.WriteFile(dir+"/in/.own.larder-1", nil, 0o666), os.Chmod(dir+"/in/a", 0o600))
			if err == nil {
				_, err = os.ReadFile(dir + "/in/a")
			}
			if err = errors.Join(err, change(dir)); err != nil {
				t.Fatal(err)
			}
			<-w.signal
			w.close()
			if err := w.problem(); err != nil {
				t.Error(err)
			}
			for _, n := range w.changed {
				if rel, err := filepath.Rel(dir, n); err != nil || !filepath.IsLocal(rel) || rel == "other" || rel == "in/own" {
					t.Errorf("notified of %s", n)
				}
			}
		})
	}
}

func TestNamedChanges(t *testing.T) {
	w := &watcher{paths: []string{"/w"}, signal: make(chan struct{}, 1)}
	for _, n := range []string{"/w/a", "/w/a", "/w/b\x1b", "/else", ""} {
		w.note(n)
	}
	if got, want := w.changes("/w"), "a, b?, more than could be noted"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, n := range []string{"/w/c", "/w/d"} {
		w.note(n)
	}
	if got, want := w.changes("/"), "w/a, w/b?, more than could be noted, more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
