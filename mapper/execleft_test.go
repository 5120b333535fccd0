package mapper_test

import (
	"os"
	"strings"
	"testing"

	"github.com/larder-data/larder/mapper"
)

// TestExecBatchDirectories checks that a sample whose directories the command changed fails
// separately, and that the target of a link is not taken as its result.
func TestExecBatchDirectories(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for bad, want := range map[string]string{
		`rm -r "$s/out"`:                            "the command removed its directory LARDER_BATCH/002/out",
		`rm -r "$s/out"; touch "$s/out"`:            "the command replaced its directory LARDER_BATCH/002/out by a ",
		`rm -r "$s/out"; ln -s ../001/out "$s/out"`: "the command replaced its directory LARDER_BATCH/002/out by a ",
		`rm -r "$s"`:                                "the command removed its directory LARDER_BATCH/002",
		`rm -r "$s"; touch "$s"`:                    "the command replaced its directory LARDER_BATCH/002",
		`rm -r "$s"; ln -s 001 "$s"`:                "the command replaced its directory LARDER_BATCH/002",
		`echo b > "$s/error"; rm -r "$s/out"`:       "the command failed: b",
		`printf '[' > "$s/out/b.json"`:              "the command wrote item b with two extensions",
		`rm "$s/out/b.bin"; touch "$s/out/b.json"`:  "the command wrote b.json, which cannot be read: json: ",
	} {
		b := newBatches(t)
		e := mapper.Exec{Batch: 4, Command: sh(shout + `for s in "$LARDER_BATCH"/*; do n=$(cat "$s/in/a.txt"); shout "$s/in/a.txt" "$s/out"; [ $n != 2 ] || { ` + bad + `; }; done`)}
		got, failed := b.bytes(b.samples(4, e, true), 1)
		if len(got) != 4 || len(failed) != 1 || !strings.HasPrefix(failed[2], "node n: sample 2: "+want) {
			t.Errorf("%s: the errors are %v, want %s", bad, failed, want)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestExecWithoutRights checks that a command that removes permissions to read or delete is
// an error, and leaves nothing.
func TestExecWithoutRights(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the user root may read and remove all; run this as another user")
	}
	t.Setenv("TMPDIR", t.TempDir())
	for script, want := range map[string]string{
		`chmod 0 "$LARDER_OUT"`:                                                                     "the command left its directory LARDER_OUT unreadable: permission denied",
		`touch "$LARDER_OUT/b.txt"; chmod 0 "$LARDER_OUT/b.txt"`:                                    "the command left b.txt, which cannot be read: permission denied",
		`mkdir -p deep/in; touch deep/in/x; chmod 0 deep/in; chmod 500 deep; false`:                 "exit status 1",
		`mkdir -p deep/in; touch deep/in/x; chmod 0 deep/in; chmod 500 deep; chmod 0 "$PWD"; false`: "exit status 1",
	} {
		_, err := run(t.Context(), t, script, "b")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "larder-exec-") {
			t.Errorf("%s: the error is %v, want %q", script, err, want)
		}
		if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", script, left)
		}
	}
}
