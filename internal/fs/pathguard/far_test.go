package pathguard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/fs/pathguard"
)

// TestFarCheck checks that outputs at URLs are identified by spelling, and are independent
// of local ones.
func TestFarCheck(t *testing.T) {
	for _, c := range []struct {
		in, out string
		refused bool
	}{
		{"s3://b/a", "s3://b/a", true},
		{"s3://b/a", "S3://b/%61", true},
		{"s3://b/dir/", "s3://b/dir/a", true},
		{"s3://b/dir/a", "s3://b/dir", true},
		{"s3://me:hunter2@b/a?hunter2", "s3://b/a", true},
		{"s3://b/a", "s3://b/ab", false},
		{"s3://b/a", "s3://c/a", false},
		{"s3://b/a", "gs://b/a", false},
		{"http://host/a", "s3://host/a", false},
		{"s3:/b/a", "s3://b/a", false},
		{"s3://b/a", "s3:/b/a", false},
	} {
		var in pathguard.Inputs
		in.Add(pathguard.Input{Owner: "node rows", Path: c.in})
		err := in.Check(t.Context(), pathguard.Output{Owner: "node out", Path: c.out, Files: true})
		if (err != nil) != c.refused || err != nil && (!errors.Is(err, pathguard.ErrConflict) || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "node rows")) {
			t.Errorf("%s, %s: %v", c.in, c.out, err)
		}
	}
}

// TestFarApart checks that each URL accepts one output, and that a local path is not a URL.
func TestFarApart(t *testing.T) {
	out := func(owner, path string) pathguard.Output {
		return pathguard.Output{Owner: owner, Path: path, Files: true, Shared: true}
	}
	if err := pathguard.CheckDisjoint(out("a", "s3://b/x"), out("b", "s3://b/y"), out("c", "s3://b/x/z"), out("d", "s3:/b/x")); err != nil {
		t.Error(err)
	}
	if err := pathguard.CheckDisjoint(out("a", "s3://b/x"), out("b", "S3://b/./x/")); err == nil || !strings.Contains(err.Error(), "a and b would both write") {
		t.Errorf("%v", err)
	}
}
