package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/internal/app/cli"
	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestUserDataIsSafe checks random commands over directories and files that are linked,
// mounted and named in any way. Inputs stay readable by all of their names, and outside of
// the outputs and the cache nothing changes or appears.
func TestUserDataIsSafe(t *testing.T) {
	testrand.Long(t)
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		w := newWorld(t, rt, filepath.Join(base, fmt.Sprint(n)))
		defer w.close()
		for range rapid.IntRange(1, 4).Draw(rt, "commands") {
			w.step(rt)
		}
	})
}

// world is a directory with datasets, flows and other user files, and links between all of
// them.
type world struct {
	t      *testing.T
	dir    string
	mounts [][2]string // mount points and their targets, relative to dir
}

func newWorld(t *testing.T, rt *rapid.T, dir string) *world {
	w := &world{t: t, dir: dir}
	w.dataset("orig", 5)
	w.dataset("other", 3)
	w.dataset("out", 3)
	w.write("notes.txt", "mine")
	w.write("flow.yaml", "version: 1\n")
	w.write("weights.bin", "w")
	w.write("script.sh", "cat \"$LARDER_IN\"/a.txt > \"$LARDER_OUT\"/b.txt\n")
	w.write("vars.yaml", "how: replace\n")
	w.write("schema.yaml", "version: 1\nitems:\n  a: {kind: text}\n")
	w.write("table.csv", "x,file\n1,orig/data/0_a.txt\n2,orig/data/1_a.txt\n")
	w.write("lines.jsonl", `{"x": 1, "file": "other/data/0_a.txt"}`+"\n"+`{"x": 2}`+"\n")
	w.link("alias", "orig/data/1_a.txt")
	w.link("flowlink", "flow.yaml")
	w.link("linkdir", "orig")
	w.link("up", "../"+filepath.Base(dir))
	w.hardLink("hard", "orig/data/2_a.txt")
	w.linked(rt)
	switch rapid.SampledFrom([]string{"", "", "data", "stale", "stale data", "mark", "data file"}).Draw(rt, "trap") {
	case "data":
		w.must(os.RemoveAll(w.path("out/data")))
		w.link("out/data", "../other/data")
	case "stale":
		w.link(".out.larder-123", "other")
	case "stale data":
		w.must(os.Mkdir(w.path(".out.larder-123"), 0o777))
		w.link(".out.larder-123/data", "../other/data")
	case "mark":
		w.link("out/.larder.json.new", "../notes.txt")
	case "data file":
		w.must(os.Remove(w.path("out/data/1_a.txt")))
		w.link("out/data/1_a.txt", "../../orig/data/1_a.txt")
	}
	switch rapid.SampledFrom([]string{"", "", "", "", "orig", "data", "out"}).Draw(rt, "mount") {
	case "orig":
		w.mount("orig", "mnt")
	case "data":
		w.mount("orig/data", "mnt/data")
	case "out":
		w.mount("other/data", "out/mounted")
	}
	return w
}

// linked makes a dataset of links to another one.
func (w *world) linked(rt *rapid.T) {
	how := rapid.SampledFrom([]string{"files", "relative", "hard", "hops", "data", "hops in out", "directory"}).Draw(rt, "links")
	if how == "directory" {
		w.link("links", "orig")
		return
	}
	w.must(os.MkdirAll(w.path("links"), 0o777))
	if how == "data" {
		w.link("links/data", "../orig/data")
		return
	}
	for i := range 5 {
		name := fmt.Sprintf("data/%d_a.txt", i)
		switch how {
		case "files":
			w.link("links/"+name, w.path("orig/"+name))
		case "relative":
			w.link("links/"+name, "../../orig/"+name)
		case "hard":
			w.hardLink("links/"+name, "orig/"+name)
		case "hops":
			w.link("hop/"+name, "../../linkdir/"+name)
			w.link("links/"+name, "../../hop/"+name)
		case "hops in out":
			w.must(os.RemoveAll(w.path("out/" + name)))
			w.link("out/"+name, "../../orig/"+name)
			w.link("links/"+name, "../../out/"+name)
		}
	}
}

func (w *world) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.dir, name)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(name, content string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o777))
	w.must(os.WriteFile(w.path(name), []byte(content), 0o666))
}

func (w *world) link(name, to string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o777))
	w.must(os.Symlink(to, w.path(name)))
}

func (w *world) hardLink(name, to string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o777))
	w.must(os.Link(w.path(to), w.path(name)))
}

func (w *world) dataset(name string, samples int) {
	w.t.Helper()
	for i := range samples {
		w.write(fmt.Sprintf("%s/data/%d_a.txt", name, i), fmt.Sprintf("%s %d", name, i))
	}
}

// mount shows a directory at another path as well, where the system allows it.
func (w *world) mount(from, at string) {
	w.must(os.MkdirAll(w.path(at), 0o777))
	if exec.CommandContext(w.t.Context(), "mount", "--bind", w.path(from), w.path(at)).Run() == nil {
		w.mounts = append(w.mounts, [2]string{w.path(from), w.path(at)})
	}
}

func (w *world) close() {
	for _, m := range w.mounts {
		w.must(exec.CommandContext(w.t.Context(), "umount", m[1]).Run())
	}
	w.must(os.RemoveAll(w.dir))
}

// Names of directories and files for commands.
var (
	sources     = []string{"orig", "links", "orig", "links", "links", "other", "linkdir", "out", "other", "mnt", "csv:table.csv,files.image=file", "jsonl:lines.jsonl,files.image=file", "csv:table.csv", "images:up"}
	directories = []string{"out", "out", "out", "out", "new", "new", "other", "new/deep", "orig", "links", "other", ".", "orig/data", "orig/sub", "linkdir", "linkdir/sub", "up", "up/out", "mnt", "mnt/data", "mnt/sub", "out/data", "hop", "cache", "cache/sub"}
	files       = []string{"new.json", "notes.txt", "flow.yaml", "more.yaml", "flowlink", "vars.yaml", "schema.yaml", "script.sh", "weights.bin", "table.csv", "lines.jsonl", "alias", "hard", "hop/data/0_a.txt",
		"orig/data/0_a.txt", "links/data/0_a.txt", "linkdir/data/3_a.txt", "mnt/data/0_a.txt", "orig/new.json", "up/flow.yaml", "out/data/0_a.txt", "cache/FORMAT", "cache/leases"}
	caches = []string{"cache", "cache", "cache", "cache", "cache", "cache", "cache", "cache", "cache", "cache", "cache", "cache", "cache", "cache", "new-cache", "orig", "orig/cache", "links", ".", "linkdir/cache", "mnt/cache"}
)

// command is a command line with its inputs and outputs.
type command struct {
	args   []string
	reads  []string
	writes []string
	cache  string
}

func (w *world) step(rt *rapid.T) {
	c := w.command(rt)
	read, all := map[string]string{}, w.snapshot()
	for _, path := range c.reads {
		w.readAll(path, 0, read)
	}
	own := w.own(c)
	var output bytes.Buffer
	status := cli.Main(c.args, &output, &output)
	fail := func(format string, args ...any) {
		rt.Helper()
		rt.Fatalf("larder %s: status %d: "+format+"\nit said: %s", append(append([]any{strings.Join(c.args, " "), status}, args...), output.String())...)
	}
	again := map[string]string{}
	for _, path := range c.reads {
		w.readAll(path, 0, again)
	}
	for _, path := range differ(read, again) {
		fail("%s was read, and is now %q and not %q", path, again[path], read[path])
	}
	for _, path := range differ(all, w.snapshot()) {
		if !own(path) {
			fail("%s changed", path)
		}
	}
}

// differ lists the differences of two snapshots.
func differ(a, b map[string]string) (paths []string) {
	for path, content := range a {
		if now, ok := b[path]; !ok || now != content {
			paths = append(paths, path)
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			paths = append(paths, path)
		}
	}
	return paths
}

// snapshot records the state of everything, without following links.
func (w *world) snapshot() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	w.must(filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // mount of a replaced directory
			all[path] = "gone"
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			all[path] = "directory"
		case d.Type()&fs.ModeSymlink != 0:
			all[path], err = os.Readlink(path)
		default:
			var b []byte
			b, err = os.ReadFile(path)
			all[path] = "file " + string(b)
		}
		return err
	}))
	return all
}

// readAll records the files readable under a path. It follows links as readers do.
func (w *world) readAll(path string, depth int, all map[string]string) {
	w.t.Helper()
	path = w.path(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || depth > 3:
		return
	case err != nil:
		all[path] = "unreadable"
	case !info.IsDir():
		b, err := os.ReadFile(path)
		w.must(err)
		all[path] = string(b)
	default:
		entries, _ := os.ReadDir(path) // it may be gone after a mount
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink != 0 && e.Name() != "data" {
				if info, err := os.Stat(filepath.Join(path, e.Name())); err == nil && info.IsDir() {
					continue
				}
			}
			w.readAll(filepath.Join(path, e.Name()), depth+1, all)
		}
	}
}

// own returns a function that reports whether a command may change a path: its output, a
// path in it, the directory of it, or the cache.
func (w *world) own(c command) func(path string) bool {
	var roots []string
	for _, path := range append([]string{c.cache}, c.writes...) {
		roots = append(roots, w.real(path))
	}
	for _, m := range w.mounts {
		for _, root := range roots {
			for _, swap := range [][2]string{m, {m[1], m[0]}} {
				if rest, ok := strings.CutPrefix(root+"/", swap[0]+"/"); ok {
					roots = append(roots, filepath.Join(swap[1], rest))
				}
				if strings.HasPrefix(swap[0]+"/", root+"/") {
					roots = append(roots, swap[1])
				}
			}
		}
	}
	return func(path string) bool {
		for _, root := range roots {
			staging := filepath.Join(filepath.Dir(root), "."+filepath.Base(root)+".larder-")
			if strings.HasPrefix(path+"/", root+"/") || strings.HasPrefix(path, staging) {
				return true
			}
			if _, err := os.Stat(path); err == nil && strings.HasPrefix(root, path+"/") {
				return true // a directory created for it
			}
		}
		return false
	}
}

// real follows links in the existing part of a path.
func (w *world) real(path string) string {
	path, rest := w.path(path), ""
	for {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(path); err == nil { // a dangling link
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(path), to)
			}
			path = to
			continue
		}
		path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
	}
}

func (w *world) command(rt *rapid.T) command {
	pick := func(label string, from []string) string { return rapid.SampledFrom(from).Draw(rt, label) }
	c := command{cache: w.path(pick("cache", caches))}
	kind := pick("command", []string{"run", "run", "run", "op", "op", "split", "exec", "draw", "export", "import", "gc", "clear", "validate", "infer", "timeit", "simulate", "verify", "audit", "why", "dry"})
	reads := func(path string) string {
		c.reads = append(c.reads, path)
		return w.path(path)
	}
	writes := func(path string) string {
		c.writes = append(c.writes, path)
		return w.path(path)
	}
	flow := func() string {
		w.flow(rt, &c)
		return w.path(pick("flow", []string{"flow.yaml", "flowlink"}))
	}
	maybe := func(flag string, value func() string) {
		if rapid.IntRange(0, 2).Draw(rt, flag) == 0 {
			c.args = append(c.args, flag, value())
		}
	}
	file := func() string { return writes(pick("file", files)) }
	switch kind {
	case "run", "dry":
		c.args = []string{"run", flow(), "--progress", "none"}
		maybe("--vars", func() string { return reads("vars.yaml") })
		if kind == "dry" {
			c.args, c.writes = append(c.args, "--dry-run"), nil
			break
		}
		maybe("--report", file)
		maybe("--events", file)
		maybe("--trace-orders", func() string { return writes(pick("traces", directories)) })
	case "op", "split", "exec":
		c.args = []string{"op", "slice", "--stop", fmt.Sprint(rapid.IntRange(0, 5).Draw(rt, "stop"))}
		switch kind {
		case "split":
			c.args = []string{"op", "chunk", "--n", "2"}
		case "exec":
			c.args = []string{"map", "exec", "--items", "a", "--into", "b", "--command", "sh", "--command", reads("script.sh"), "--code", reads("weights.bin")}
		}
		c.args = append(c.args, "--progress", "none", "-i", w.source(rt, &c), "-o", w.sink(rt, &c, kind == "split"))
		if kind == "op" && rapid.Bool().Draw(rt, "keep") {
			c.args = append(c.args, "--keep")
		}
		maybe("--report", file)
		maybe("--events", file)
	case "draw":
		c.args = []string{"draw", flow(), "--format", "svg", "-o", file()}
		c.writes = c.writes[len(c.writes)-1:]
	case "export":
		c.args = []string{"export", "-o", file()}
	case "import":
		c.args = []string{"import", reads(pick("file", files))}
	case "gc":
		c.args = []string{"gc", "--max-size", "1KiB", "--pinned"}
	case "clear":
		c.args = []string{"clear", "--all"}
	case "validate":
		c.args = []string{"validate", w.source(rt, &c), "--schema", reads("schema.yaml")}
	case "infer":
		c.args = []string{"validate", w.source(rt, &c), "--infer"}
	case "timeit":
		c.args = []string{"timeit", "--runs", "1", "-i", w.source(rt, &c)}
	case "simulate":
		w.write("accesses", "1\n2\n1\n")
		c.args = []string{"simulate", "--trace", reads("accesses"), "--svg", writes(pick("file", append(files, "accesses")))}
	case "verify", "audit", "why":
		c.args = []string{kind, flow()}
		if kind == "why" {
			c.args = append(c.args, "b")
		}
		c.writes = nil
	}
	c.args = append(c.args, "--cache", c.cache)
	return c
}

// source draws a dataset to read, as -i accepts it.
func (w *world) source(rt *rapid.T, c *command) string {
	text := rapid.SampledFrom(sources).Draw(rt, "source")
	format, path, ok := strings.Cut(text, ":")
	if !ok {
		c.reads = append(c.reads, text)
		return "underfolder:" + w.path(text)
	}
	path, params, _ := strings.Cut(path, ",")
	c.reads = append(c.reads, path)
	if params == "" {
		return format + ":" + w.path(path)
	}
	switch path { // the files that they name
	case "table.csv":
		c.reads = append(c.reads, "orig/data/0_a.txt", "orig/data/1_a.txt")
	case "lines.jsonl":
		c.reads = append(c.reads, "other/data/0_a.txt")
	}
	return format + ":" + w.path(path) + ",files=image=file"
}

// sink draws an output, as -o accepts it.
func (w *world) sink(rt *rapid.T, c *command, several bool) string {
	format := rapid.SampledFrom([]string{"underfolder", "underfolder", "underfolder", "csv", "jsonl"}).Draw(rt, "format")
	if format != "underfolder" {
		path := rapid.SampledFrom(append(files, directories...)).Draw(rt, "path")
		c.writes = append(c.writes, path)
		if several { // in a directory, only these
			c.writes = append(c.writes[:len(c.writes)-1], path+"/0."+format, path+"/1."+format)
		}
		return format + ":" + w.path(path) + ",overwrite=" + rapid.SampledFrom([]string{"replace", "forbid"}).Draw(rt, "overwrite")
	}
	path := rapid.SampledFrom(append(directories, files[:3]...)).Draw(rt, "path")
	c.writes = append(c.writes, path)
	return "underfolder:" + w.path(path) +
		",overwrite=" + rapid.SampledFrom([]string{"replace", "replace", "new-files", "overwrite-files", "if-empty", "forbid"}).Draw(rt, "overwrite") +
		",copy=" + rapid.SampledFrom([]string{"reflink-or-copy", "hard-link", "symbolic-link", "rewrite"}).Draw(rt, "copy")
}

// flow writes flow.yaml and its includes, and records their inputs and outputs.
func (w *world) flow(rt *rapid.T, c *command) {
	c.reads = append(c.reads, "flow.yaml", "more.yaml")
	node := func(kind, place string) string {
		format, rest, _ := strings.Cut(place, ":")
		path, params, _ := strings.Cut(rest, ",")
		with := fmt.Sprintf("path: %q", path)
		for p := range strings.SplitSeq(params, ",") {
			if name, value, ok := strings.Cut(p, "="); ok {
				if key, of, ok := strings.Cut(value, "="); ok {
					value = "{" + key + ": " + of + "}"
				}
				with += fmt.Sprintf(", %s: %s", name, value)
			}
		}
		return fmt.Sprintf("{%s: %s, with: {%s}", kind, format, with)
	}
	w.must(os.RemoveAll(w.path("flow.yaml"))) // it may have become a link or a directory
	w.must(os.RemoveAll(w.path("more.yaml")))
	w.write("more.yaml", "version: 1\nnodes:\n  a: "+node("source", w.source(rt, c))+"}\n")
	b := fmt.Sprintf("{op: slice, with: {stop: %d}, from: a}", rapid.IntRange(0, 5).Draw(rt, "stop"))
	if rapid.Bool().Draw(rt, "exec") {
		c.reads = append(c.reads, "script.sh", "weights.bin")
		b = "{map: exec, with: {command: [sh, script.sh], items: [a], into: [b], code: [weights.bin]}, from: a, keep: true}"
	}
	w.write("flow.yaml", "version: 1\nvars: {how: forbid}\ninclude: more.yaml\nnodes:\n  b: "+b+"\n  out: "+node("sink", w.sink(rt, c, false))+", from: b}\n")
}
