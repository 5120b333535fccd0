package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
)

const shardedFlow = `version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  noted:
    map: exec
    from: letters
    keep: true
    with: {command: [sh, -c, 'echo >>"$EXECUTIONS"; %s; cat "$LARDER_IN"/image.* | wc -c >"$LARDER_OUT/size.txt"'], items: [image], into: [size], env: [EXECUTIONS]}
  some: {op: filter, from: noted, with: {where: 'size != "" && metadata.color != "red"'}}
  jittered: {map: color-jitter, from: some, keep: true, with: {brightness: 0.5, seed: 3}}
  colors: {op: group-by, from: jittered, with: {by: metadata.color}}
  out: {sink: underfolder, from: colors, with: {path: out, overwrite: replace}}
`

// machines returns n benches with a cache each, for the directory and the log of b.
func (b *bench) machines(n int) []*bench {
	all := make([]*bench, n)
	for i := range all {
		m := *b
		m.cache = filepath.Join(filepath.Dir(b.cache), fmt.Sprint("cache", i))
		all[i] = &m
	}
	return all
}

// each runs the program on all machines concurrently; each must succeed.
func each(t *testing.T, machines []*bench, args func(i int) []string) {
	t.Helper()
	var all sync.WaitGroup
	for i, m := range machines {
		all.Go(func() {
			if r := m.larder(args(i)...); r.status != 0 {
				t.Errorf("%v: status %d\n%s", args(i), r.status, r.stderr)
			}
		})
	}
	all.Wait()
}

// TestShardsOfMachines checks that seven shards of a flow on machines with their own caches compute each result once, and
// that the output is that of one run, byte for byte.
func TestShardsOfMachines(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", fmt.Sprintf(shardedFlow, "true"))
	b.run()
	want := tree(t, b.path("out"))
	if n := b.executions(); n != 26 {
		t.Fatalf("%d executions of one run", n)
	}
	if err := os.RemoveAll(b.path("out")); err != nil {
		t.Fatal(err)
	}
	sharedServer(t)
	const shards = 7
	machines := b.machines(shards)
	for stage := 1; stage <= 2; stage++ {
		each(t, machines, func(i int) []string {
			return []string{"run", "flow.yaml", "--shard", fmt.Sprint(i+1, "/", shards), "--stage", fmt.Sprint(stage)}
		})
	}
	if n := b.executions(); n != 26 {
		t.Errorf("%d executions of %d shards, want 26", n, shards)
	}
	if _, err := os.Stat(b.path("out")); err == nil {
		t.Error("a shard has written the output")
	}
	r := machines[3].run()
	sameTree(t, "the run after the shards", tree(t, b.path("out")), want)
	if n := r.node(t, "jittered"); b.executions() > 0 || n.Computed > 0 {
		t.Errorf("the run after the shards computes: %+v", n)
	}
}

// TestShardsWithoutStages checks that a shard computes the stages whose earlier stages are complete, and says which is not.
func TestShardsWithoutStages(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", fmt.Sprintf(shardedFlow, "true"))
	ranges := func(want ...string) {
		t.Helper()
		r := b.larder("ranges", "flow.yaml", "--shards", "2")
		got := strings.Split(strings.TrimSpace(r.stdout), "\n")[1:]
		for i := range got {
			got[i] = strings.Join(strings.Fields(got[i]), " ")
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("ranges: %s%s", r.stdout, r.stderr)
		}
	}
	ranges("1 1 noted 0 13", "1 2 noted 13 26", "2 ? jittered after stage 1")
	if r := b.run("--shard", "1/2"); !strings.Contains(r.stderr, "--stage 2") || r.report.Shard != "1/2" || r.report.Waits != 2 || b.executions() != 13 {
		t.Errorf("the first shard: %+v %s", r.report, r.stderr)
	}
	ranges("1 1 noted 0 13", "1 2 noted 13 26", "2 ? jittered after stage 1")
	if r := b.run("--shard", "2/2"); r.report.Waits != 0 || r.node(t, "jittered").Computed == 0 || b.executions() != 13 {
		t.Errorf("the second shard: %+v %s", r.report, r.stderr)
	}
	ranges("1 1 noted 0 13", "1 2 noted 13 26", "2 1 jittered 0 11", "2 2 jittered 11 22")
	if r := b.run("--shard", "1/2"); r.report.Waits != 0 || b.executions() != 0 {
		t.Errorf("the first shard again: %+v %s", r.report, r.stderr)
	}
	if r := b.run(); r.node(t, "noted").Computed+r.node(t, "jittered").Computed > 0 {
		t.Errorf("the run after the shards: %+v", r.report)
	}
}

// TestWrongShards checks the messages about shards that cannot be computed.
func TestWrongShards(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", fmt.Sprintf(shardedFlow, "true"))
	b.write("plain.yaml", "version: 1\nnodes:\n  in: {source: underfolder, with: {path: data}}\n  out: {sink: underfolder, from: in, with: {path: out}}\n")
	for _, c := range []struct{ args, want string }{
		{"run flow.yaml --shard 0/4", "I from 1 to N"},
		{"run flow.yaml --shard 5/4", "I from 1 to N"},
		{"run flow.yaml --shard 2", "I from 1 to N"},
		{"run flow.yaml --stage 2", "--stage needs --shard"},
		{"run flow.yaml --shard 1/2 --stage 3", "there is no stage 3; the flow has 2"},
		{"run flow.yaml --shard 1/2 --dry-run", "--shard cannot be combined with"},
		{"run plain.yaml --shard 1/2", "set keep or checkpoint on a node"},
		{"ranges flow.yaml", "give --shards"},
	} {
		if r := b.larder(strings.Fields(c.args)...); r.status != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: status %d, %s", c.args, r.status, r.stderr)
		}
	}
}

// TestKilledShard kills one of four shards at a random moment. Started again, it continues, at most what was in progress
// is computed twice, and the output is right.
func TestKilledShard(t *testing.T) {
	testrand.Long(t) // the leases of a killed process end after ten seconds
	kills := 1
	if testrand.All() {
		kills = 5
	}
	r := testrand.New(t)
	for range kills {
		b := newBench(t)
		sharedServer(t)
		b.write("flow.yaml", fmt.Sprintf(shardedFlow, "sleep 0.05"))
		machines := b.machines(4)
		shard := func(i int) []string {
			return []string{"run", "flow.yaml", "--shard", fmt.Sprint(i+1, "/4"), "--stage", "1"}
		}
		victim, after := r.IntN(4), 1+r.IntN(20)
		var done sync.WaitGroup
		var killed *exec.Cmd
		for i, m := range machines {
			c := m.command(shard(i)...)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if i == victim {
				killed = c
				continue
			}
			done.Go(func() {
				if err := c.Wait(); err != nil {
					t.Error(err)
				}
			})
		}
		for start := time.Now(); countLines(t, b.log) < after && time.Since(start) < 20*time.Second; <-time.After(time.Millisecond) {
		}
		_ = killed.Process.Kill()
		_ = killed.Wait()
		done.Wait()
		each(t, machines[victim:victim+1], func(int) []string { return shard(victim) })
		each(t, machines, func(i int) []string {
			return []string{"run", "flow.yaml", "--shard", fmt.Sprint(i+1, "/4"), "--stage", "2"}
		})
		inProgress := 8 // executions of two processors, and those that had ended but were not stored
		if n := b.executions(); n < 26 || n > 26+inProgress {
			t.Errorf("%d executions, want 26 to %d, after shard %d was killed at %d", n, 26+inProgress, victim, after)
		}
		machines[0].run()
		got := tree(t, b.path("out"))
		b.cache += "-alone"
		t.Setenv("LARDER_STORE", "")
		b.run()
		sameTree(t, "after a kill", got, tree(t, b.path("out")))
	}
}

func countLines(t *testing.T, file string) int {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(content, []byte("\n"))
}
