package mapper_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/mapper"
)

// flowDir creates a directory with run.sh, "my script.sh" and scripts/run.sh, and a file
// next to it.
func flowDir(t *testing.T) (dir, outside string) {
	t.Helper()
	around := pathguard.Resolve(t.TempDir())
	dir, outside = filepath.Join(around, "flow"), filepath.Join(around, "outside.sh")
	if err := os.MkdirAll(filepath.Join(dir, "scripts"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, filepath.Join(dir, "run.sh"), filepath.Join(dir, "my script.sh"), filepath.Join(dir, "scripts", "run.sh")} {
		rewrite(t, path, "1")
	}
	return dir, outside
}

func rewrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func execOf(command ...string) mapper.Exec {
	return mapper.Exec{Command: command, Items: []string{"a"}, Into: []string{"b"}}
}

func execKey(t *testing.T, e mapper.Exec, dir string) string {
	t.Helper()
	m, err := e.Transform(&component.Env{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	op, err := m.Op(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return op.Action().Key().String()
}

// TestExecFilesInWords checks that a file named by part of a word or of a value is part of
// the identity, of the dependencies, and of the listing.
func TestExecFilesInWords(t *testing.T) {
	dir, _ := flowDir(t)
	link := filepath.Join(filepath.Dir(dir), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		dir, file, value string
		command          []string
	}{
		{file: "run.sh", command: []string{"sh", "-c", "sh " + dir + "/run.sh"}},
		{file: "run.sh", command: []string{"env", "RUN=" + dir + "/run.sh", "sh", "-c", `. "$RUN"`}},
		{file: "run.sh", command: []string{"sh", "-ec", ". ./run.sh"}},
		{file: "run.sh", command: []string{"sh", "-c", `. "$RUN"`}, value: dir + "/run.sh"},
		{file: "scripts/run.sh", command: []string{"sh", "-c", "x"}, value: "a:scripts/run.sh:b"},
		{file: "my script.sh", command: []string{"sh", "-c", `. '` + dir + `/my script.sh'; true`}},
		{file: "my script.sh", command: []string{"env", "RUN=" + dir + "/my script.sh", "x"}},
		{file: "run.sh", command: []string{"sh", "-c", "true\n(sh<run.sh)|cat"}},
		{file: "run.sh", command: []string{"sh", "-c", "x=`cat ./scripts/../run.sh`;true"}},
		{file: "run.sh", command: []string{"curl", "-d@run.sh"}},
		{file: "run.sh", command: []string{"sh", "-c", `sh -c "sh \"` + dir + `/run.sh\""`}},
		{file: "run.sh", command: []string{"sh", "-c", "cat {run.sh,x}"}},
		{file: "run.sh", command: []string{"awk", "-frun.sh"}},
		{file: "run.sh", command: []string{"awk", "-f" + dir + "/run.sh"}},
		{file: "run.sh", command: []string{"x", "--url=file://" + dir + "/run.sh"}},
		{file: "run.sh", command: []string{"sh", "-c", "sh " + dir + "/run.sh"}, dir: link},
		{file: "run.sh", command: []string{"sh", "-c", "sh " + link + "/run.sh"}, dir: link},
	}
	for _, c := range cases {
		t.Run(strings.ReplaceAll(fmt.Sprint(c.command, c.value), "/", "_"), func(t *testing.T) {
			if c.dir == "" {
				c.dir = dir
			}
			t.Setenv("RUN", c.value)
			e, path, env := execOf(c.command...), filepath.Join(c.dir, c.file), &component.Env{Dir: c.dir}
			e.Env = []string{"RUN"}
			was := execKey(t, e, c.dir)
			rewrite(t, path, "2")
			if execKey(t, e, c.dir) == was {
				t.Error("another content does not change the identity")
			}
			rewrite(t, path, "1")
			if execKey(t, e, c.dir) != was {
				t.Error("the content that was does not have the identity that was")
			}
			if files, _ := e.Files(env); !slices.Equal(files, []string{path}) {
				t.Errorf("the files are %q", files)
			}
			if !slices.ContainsFunc(e.Inputs(env), func(in pathguard.Input) bool { return pathguard.Resolve(in.Path) == pathguard.Resolve(path) }) {
				t.Errorf("it is not among what is read: %v", e.Inputs(env))
			}
		})
	}
}

// TestExecFilesNotInWords checks that directories, files elsewhere, and names that a
// command composes are not part of the identity.
func TestExecFilesNotInWords(t *testing.T) {
	dir, outside := flowDir(t)
	t.Setenv("RUN", outside+":"+dir)
	for _, script := range []string{
		"ls " + dir + "/scripts", "ls scripts/ ./scripts", "sh " + outside, "sh ../outside.sh",
		"cd " + dir + "; sh $NAME.sh", "cat $DIR/run.sh", "cat *.sh", "sh " + dir + "/run.sh.old",
	} {
		e := execOf("sh", "-c", script)
		e.Env = []string{"RUN"}
		was := execKey(t, e, dir)
		for _, path := range []string{outside, filepath.Join(dir, "run.sh"), filepath.Join(dir, "scripts", "run.sh")} {
			rewrite(t, path, "2")
			if execKey(t, e, dir) != was {
				t.Errorf("%s: the identity has the content of %s", script, path)
			}
			rewrite(t, path, "1")
		}
		if files, _ := e.Files(&component.Env{Dir: dir}); len(files) > 0 {
			t.Errorf("%s: the files are %q", script, files)
		}
	}
}

// TestExecFilesToCome checks the report of files that would count if they existed.
func TestExecFilesToCome(t *testing.T) {
	dir, _ := flowDir(t)
	_, may := execOf("sh", "-c", "sh ./come.sh "+dir+"/scripts/come.sh /no/where.sh").Files(&component.Env{Dir: dir})
	for name, want := range map[string]bool{"come.sh": true, "scripts/come.sh": true, "run.sh": false, "scripts": false, "../../no/where.sh": false} {
		if path := filepath.Join(dir, name); slices.Contains(may, path) != want {
			t.Errorf("%s among what may come: %v, want %v", path, !want, want)
		}
	}
}

// TestExecKeyStays checks that files named as words or in Code count once, however often
// parts of words name them. Parts that name no file do not count.
func TestExecKeyStays(t *testing.T) {
	dir, _ := flowDir(t)
	e := execOf("sh", "./run.sh", "scripts/run.sh", "-c", "x=1; cat ./scripts/../run.sh 'my script.sh' | tr a-z A-Z > \"$LARDER_OUT/b.txt\"")
	e.Code = []component.Path{"./my script.sh"}
	m, err := e.Transform(&component.Env{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	op, err := m.Op(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range op.Action().Parts()[1:] { // after the operation
		names = append(names, p.Name)
	}
	slices.Sort(names)
	if want := []string{"", "code ./my script.sh", "code ./run.sh", "code scripts/run.sh", "command", "into"}; !slices.Equal(names, want) {
		t.Errorf("the identity of a command whose parts name nothing else has %q, want %q", names, want)
	}
}

// TestExecWordsStay checks that a name inside a word is not rewritten.
func TestExecWordsStay(t *testing.T) {
	dir, _ := flowDir(t)
	m, err := execOf("sh", "-c", `echo ./run.sh run.sh > "$LARDER_OUT/b.txt"`).Transform(&component.Env{Dir: dir})
	out, err := apply(t.Context(), m, err, dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", nil)}))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := out.Value(t.Context(), "b"); err != nil || v != "./run.sh run.sh\n" {
		t.Errorf("%q, %v", v, err)
	}
}

// TestExecThatWritesWhatItNames checks that a command must not write a file that it names,
// which it may have read before or after.
func TestExecThatWritesWhatItNames(t *testing.T) {
	dir, _ := flowDir(t)
	m, err := execOf("sh", "-c", "echo >> '"+dir+`/run.sh'; echo > "$LARDER_OUT/b.txt"`).Transform(&component.Env{Dir: dir})
	_, err = apply(t.Context(), m, err, dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", nil)}))
	if !errors.Is(err, dataset.ErrChanged) || !strings.Contains(err.Error(), "must not write") {
		t.Errorf("the error is %v", err)
	}
}

// TestExecHugeWord checks that the longest word that a system accepts is fully examined,
// and that a word that cannot be examined is refused.
func TestExecHugeWord(t *testing.T) {
	dir, _ := flowDir(t)
	var script strings.Builder
	for i := 0; script.Len() < 128<<10; i++ {
		fmt.Fprintf(&script, "echo '%d' %d; ", i, i)
	}
	e := execOf("sh", "-c", script.String()+"sh ./run.sh")
	was := execKey(t, e, dir)
	rewrite(t, filepath.Join(dir, "run.sh"), "2")
	if execKey(t, e, dir) == was {
		t.Error("the last name in a long word does not count")
	}
	for i := 0; script.Len() < 2<<20; i++ {
		fmt.Fprintf(&script, "x%d ", i)
	}
	if _, err := execOf("sh", "-c", script.String()).Transform(&component.Env{Dir: dir}); err == nil || !strings.Contains(err.Error(), "more than 65536 parts") {
		t.Errorf("a word with too many parts gives %v", err)
	}
	if n := len(execOf("sh", "-c", script.String()).Inputs(&component.Env{Dir: dir})); n > 10 {
		t.Errorf("%d inputs", n)
	}
	if files, may := execOf(strings.Repeat("x", 1<<20)).Files(&component.Env{Dir: dir}); len(files)+len(may) != 0 {
		t.Errorf("a word of a MiB without a break names %d files", len(files)+len(may))
	}
}
