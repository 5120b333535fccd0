package mapper_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/mapper"
)

// numbered3 returns three samples with their numbers in item a.
func numbered3() component.Samples {
	return dataset.Func(3, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", fmt.Append(nil, i))}), nil
	})
}

// running applies a command to three samples, and returns the error of each.
func running(t *testing.T, e mapper.Exec, env *component.Env) (errs []error) {
	t.Helper()
	e.Items, e.Into = []string{"a"}, []string{"b"}
	m, err := e.Transform(env)
	if err != nil {
		t.Fatal(err)
	}
	ds := dataset.Map(numbered3(), m, dataset.MapOptions{Node: env.Node})
	for i := range 3 {
		s, err := ds.At(t.Context(), i)
		if err == nil {
			_, err = s.Value(t.Context(), "b")
		}
		errs = append(errs, err)
	}
	return errs
}

func logsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	logs := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		logs[e.Name()] = string(b)
	}
	return logs
}

// TestExecLogs checks that stderr of commands is logged by sample, for successes and
// failures. A silent command has no log, not even of an earlier run.
func TestExecLogs(t *testing.T) {
	logs := filepath.Join(t.TempDir(), "logs")
	env := &component.Env{Dir: t.TempDir(), Node: "small@width=8/x", Logs: logs}
	const script = `n=$(cat "$LARDER_IN/a.txt"); touch "$LARDER_OUT/b.txt"; `
	errs := running(t, mapper.Exec{Command: []string{"sh", "-c", script + `echo "sample $n" >&2; [ $n != 1 ]`}}, env)
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Fatal(errs)
	}
	dir := filepath.Join(logs, "small@width=8%2Fx")
	if got, want := fmt.Sprint(logsIn(t, dir)), "map[000000.log:sample 0\n 000001.log:sample 1\n 000002.log:sample 2\n]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	running(t, mapper.Exec{Command: []string{"sh", "-c", script + `[ $n != 1 ] || seq 3000000 >&2`}}, env)
	got := logsIn(t, dir)
	if text := got["000001.log"]; len(got) != 1 || len(text) < 16<<20 || len(text) > 16<<20+100 || !strings.HasSuffix(text, "(truncated after 16 MiB)\n") {
		t.Errorf("%d logs, that of sample 1 has %d bytes", len(got), len(text))
	}
}

// TestExecLogsAreNoInput checks that logs are not written to inputs of a flow.
func TestExecLogsAreNoInput(t *testing.T) {
	dir := t.TempDir()
	reads := new(pathguard.Inputs)
	reads.Add(pathguard.Input{Owner: "node in", Path: dir})
	env := &component.Env{Node: "n", Logs: dir, Inputs: reads}
	if _, err := (mapper.Exec{Command: []string{"true"}, Items: []string{"a"}, Into: []string{"b"}}).Transform(env); err == nil || !strings.Contains(err.Error(), "node in reads") {
		t.Errorf("the error is %v", err)
	}
}

// TestExecBounds checks that a slow command is ended with its children, and that too large
// a result is not read. Its sample is an error, and the others are computed.
func TestExecBounds(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	env := &component.Env{Dir: t.TempDir(), Node: "n"}
	const script = `n=$(cat "$LARDER_IN/a.txt"); echo 12345 > "$LARDER_OUT/b.txt"; [ $n != 1 ] || `
	late := running(t, mapper.Exec{Command: []string{"sh", "-c", script + "{ sleep 1000 & sleep 1000; }"}, Timeout: "500ms"}, env)[1]
	if late == nil || !strings.Contains(late.Error(), "node n: sample 1: command sh -c ") || !strings.Contains(late.Error(), ": killed after the timeout of 500ms") {
		t.Errorf("the error is %v", late)
	}
	large := running(t, mapper.Exec{Command: []string{"sh", "-c", script + `echo 1234567890 > "$LARDER_OUT/b.txt"`}, Bytes: 10, Timeout: "1h"}, env)
	if large[0] != nil || large[2] != nil || large[1] == nil || !strings.Contains(large[1].Error(), "node n: sample 1: the command wrote more than 10 bytes, at b.txt; write less") {
		t.Errorf("the errors are %v", large)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	for says, e := range map[string]mapper.Exec{`timeout "5" is not a duration`: {Timeout: "5"}, `timeout "-1s" is not a duration`: {Timeout: "-1s"}, "max-bytes is -1": {Bytes: -1}} {
		if err := e.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v", e, err)
		}
	}
	one, err := mapper.Exec{Command: []string{"true"}, Items: []string{"a"}, Into: []string{"b"}}.Transform(env)
	if err != nil {
		t.Fatal(err)
	}
	other, err := mapper.Exec{Command: []string{"true"}, Items: []string{"a"}, Into: []string{"b"}, Timeout: "1h", Bytes: 5}.Transform(env)
	if err != nil {
		t.Fatal(err)
	}
	a, aerr := one.Op(t.Context(), nil)
	b, berr := other.Op(t.Context(), nil)
	if aerr != nil || berr != nil || a.Key() != b.Key() {
		t.Errorf("bounds have results computed again: %v, %v", aerr, berr)
	}
}
