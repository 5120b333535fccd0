package rows_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	_ "github.com/larder-data/larder/objectstore/s3"
)

// sent counts requests by method since the last call.
func sent(s *objectstoretest.Server) map[string]int {
	all := map[string]int{}
	for _, r := range s.Requests() {
		all[r.Method]++
	}
	return all
}

// farFiles returns the objects in a directory of bucket, by name.
func farFiles(o *objectstoretest.Objects, dir string) map[string]string {
	all := map[string]string{}
	for _, name := range o.Names() {
		if file, ok := strings.CutPrefix(name, "bucket/"+dir+"/"); ok {
			all[file] = string(o.Get(name))
		}
	}
	return all
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: there are %d files, want %d", what, len(got), len(want))
	}
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s: %s has %d bytes, want %d", what, name, len(got[name]), len(content))
		}
	}
}

// TestFarSinksWriteWhatIsWrittenHere checks that shards at a URL have the bytes of local
// ones, and read the same. Another run sends nothing, and one with fewer samples deletes
// the rest.
func TestFarSinksWriteWhatIsWrittenHere(t *testing.T) {
	lengths := make([]int, 100)
	for i := range lengths {
		lengths[i] = 50 + i*7%200
	}
	with := map[string]any{"shard-bytes": "4KiB"}
	for name, ending := range sharded {
		t.Run(name, func(t *testing.T) {
			s, o := objectstoretest.S3(t)
			o.Put("bucket/out/notes", []byte("of another writer"))
			in := component.One(dataset.List(texts(name, lengths)...))
			dir := t.TempDir()
			if _, err := put(t, name, dir, with, in); err != nil {
				t.Fatal(err)
			}
			want := directory(t, dir)
			want["notes"] = "of another writer"
			s.Requests()
			stats, err := put(t, name, "s3://bucket/out/", with, in)
			if n := sent(s); err != nil || n["PUT"] != len(want)-1 || stats.Computed.Load() != 100 || stats.BytesWritten.Load() == 0 {
				t.Fatalf("%v, %d computed: %v", n, stats.Computed.Load(), err)
			}
			same(t, "what is there", farFiles(o, "out"), want)
			if name != "csv" { // read from one file only
				if all := numbersIn(t, name, "s3://bucket/out/"); len(all) != 100 || !slices.IsSorted(all) {
					t.Errorf("the directory is read as %v", all)
				}
			}
			s.Requests()
			stats, err = put(t, name, "s3://bucket/out", with, in)
			if n := sent(s); err != nil || n["PUT"]+n["POST"]+n["DELETE"] != 0 || n["HEAD"] != 2*(len(want)-1) || stats.BytesWritten.Load() != 0 || stats.FromStore.Load() != 100 {
				t.Errorf("again: %v, %d from store: %v", n, stats.FromStore.Load(), err)
			}
			fewer := component.One(dataset.List(texts(name, lengths[:40])...))
			if _, err := put(t, name, dir, with, fewer); err != nil {
				t.Fatal(err)
			}
			if _, err := put(t, name, "s3://bucket/out/", with, fewer); err != nil {
				t.Fatal(err)
			}
			want = directory(t, dir)
			want["notes"] = "of another writer"
			same(t, "of fewer", farFiles(o, "out"), want)
			s.Requests()
			computed := dataset.Func(1, func(context.Context, int) (dataset.Sample, error) {
				t.Error("a sample was computed")
				return dataset.Sample{}, errors.New("no")
			})
			_, err = put(t, name, "s3://bucket/out/", map[string]any{"shard-bytes": "4KiB", "overwrite": "forbid"}, component.One(computed))
			if n := sent(s); !errors.Is(err, fs.ErrExist) || n["PUT"] != 0 || !strings.Contains(err.Error(), "s3://bucket/out/0") {
				t.Errorf("what may not be replaced: %v: %v", n, err)
			}
			_ = ending
		})
	}
}

// TestFarSinksWriteOneFile checks that files at a URL have the bytes of local ones, for one
// compressed file and several outputs. Equal files are not written again.
func TestFarSinksWriteOneFile(t *testing.T) {
	lengths := []int{3, 500, 70, 9000}
	for name, ending := range sharded {
		for _, packed := range []string{"", ".gz", ".zst"} {
			if packed != "" && !slices.Contains([]string{"csv", "jsonl", "text", "tfrecord"}, name) {
				continue
			}
			t.Run(name+packed, func(t *testing.T) {
				s, o := objectstoretest.S3(t)
				samples := texts(name, lengths)
				file := "a b" + ending + packed
				dir := t.TempDir()
				for _, c := range []struct {
					here, there string
					in          component.Data
				}{
					{filepath.Join(dir, "one", file), "s3://bucket/one/a%20b" + ending + packed, component.One(dataset.List(samples...))},
					{filepath.Join(dir, "several"), "s3://bucket/several", component.Data{Names: []string{"first", "é {1}"}, Parts: []component.Samples{dataset.List(samples[:2]...), dataset.List(samples[2:]...)}}},
				} {
					if _, err := put(t, name, c.here, nil, c.in); err != nil {
						t.Fatal(err)
					}
					s.Requests()
					if _, err := put(t, name, c.there, nil, c.in); err != nil || sent(s)["PUT"] != len(c.in.Parts) {
						t.Fatalf("%s: %v", c.there, err)
					}
					stats, err := put(t, name, c.there, nil, c.in)
					looks := 1 // and one more in the end for several
					if len(c.in.Parts) > 1 {
						looks = 2 * len(c.in.Parts)
					}
					if n := sent(s); err != nil || n["PUT"] != 0 || n["HEAD"] != looks || stats.FromStore.Load() != 4 {
						t.Errorf("%s: again: %v, %v", c.there, n, err)
					}
				}
				same(t, "several", farFiles(o, "several"), directory(t, filepath.Join(dir, "several")))
				same(t, "one", farFiles(o, "one"), directory(t, filepath.Join(dir, "one")))
			})
		}
	}
}

// TestFarSinksMeetOthers checks that objects of other writers are replaced only on request,
// and not if they changed during the run: then the run fails.
func TestFarSinksMeetOthers(t *testing.T) {
	_, o := objectstoretest.S3(t)
	samples := texts("jsonl", []int{5, 5, 5})
	in := component.One(dataset.List(samples...))
	o.Put("bucket/a.jsonl", []byte("theirs"))
	if _, err := put(t, "jsonl", "s3://bucket/a.jsonl", map[string]any{"overwrite": "forbid"}, in); !errors.Is(err, fs.ErrExist) || string(o.Get("bucket/a.jsonl")) != "theirs" {
		t.Errorf("%v", err)
	}
	for _, how := range []string{"forbid", "replace"} {
		for _, path := range []string{"s3://bucket/new-" + how + ".jsonl", "s3://bucket/new-" + how + "/"} {
			at := strings.TrimPrefix(path, "s3://")
			with := map[string]any{"overwrite": how}
			if strings.HasSuffix(at, "/") {
				at += "000001.jsonl"
				with["shard-samples"] = 1
			}
			during := dataset.Func(len(samples), func(_ context.Context, i int) (dataset.Sample, error) {
				if i == 2 {
					o.Put(at, []byte("theirs"))
				}
				return samples[i], nil
			})
			_, err := put(t, "jsonl", path, with, component.One(during))
			if how == "replace" && strings.HasSuffix(path, "/") && err == nil {
				continue // the change may have come before the last look
			}
			if err == nil || !strings.Contains(err.Error(), "changed") && !errors.Is(err, fs.ErrExist) || string(o.Get(at)) != "theirs" {
				t.Errorf("%s, %s: %v, there is %q", path, how, err, o.Get(at))
			}
		}
	}
	o.Put("bucket/old.jsonl", []byte("old"))
	during := dataset.Func(len(samples), func(_ context.Context, i int) (dataset.Sample, error) {
		o.Put("bucket/old.jsonl", []byte("theirs"))
		return samples[i], nil
	})
	if _, err := put(t, "jsonl", "s3://bucket/old.jsonl", nil, component.One(during)); !errors.Is(err, objectstore.ErrChanged) || string(o.Get("bucket/old.jsonl")) != "theirs" {
		t.Errorf("%v, there is %q", err, o.Get("bucket/old.jsonl"))
	}
	if _, err := put(t, "jsonl", "s3://bucket/a.jsonl", nil, in); err != nil || strings.Count(string(o.Get("bucket/a.jsonl")), "\n") != 3 {
		t.Errorf("%v, there is %q", err, o.Get("bucket/a.jsonl"))
	}
}

// TestFarShardsOfTwoRuns checks that of two runs that write shards into one directory, the
// last one reports the mixture.
func TestFarShardsOfTwoRuns(t *testing.T) {
	s, o := objectstoretest.S3(t)
	in := component.One(dataset.List(texts("jsonl", []int{5, 5, 5, 5})...))
	with := map[string]any{"shard-samples": 1}
	for i, theirs := range []string{"000000.jsonl", "000007.jsonl", "none.jsonl", "other-000000.jsonl"} {
		dir := fmt.Sprintf("two%d", i)
		o.Put("bucket/"+dir+"/000005.jsonl", []byte("left by an earlier run"))
		s.Fail(func(_ int, r *http.Request) objectstoretest.Fault {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/000003.jsonl") {
				o.Put("bucket/"+dir+"/"+theirs, []byte("theirs"))
			}
			return objectstoretest.Fault{}
		})
		_, err := put(t, "jsonl", "s3://bucket/"+dir, with, in)
		s.Fail(nil)
		if mixed := strings.HasPrefix(theirs, "00"); errors.Is(err, objectstore.ErrChanged) != mixed || mixed && !strings.Contains(err.Error(), theirs) {
			t.Errorf("they wrote %s: %v", theirs, err)
		}
		if _, err := put(t, "jsonl", "s3://bucket/"+dir, with, in); err != nil {
			t.Errorf("again: %v", err)
		}
		if files := farFiles(o, dir); files["000005.jsonl"] != "" || files["000007.jsonl"] != "" || files["000000.jsonl"] == "theirs" {
			t.Errorf("again: %v", files)
		}
	}
}

// TestFarOutputsOfTwoRuns checks the same for the files of several outputs.
func TestFarOutputsOfTwoRuns(t *testing.T) {
	for _, name := range []string{"jsonl", "parquet"} {
		s, o := objectstoretest.S3(t)
		part := dataset.List(texts(name, []int{5, 5})...)
		in := component.Data{Names: []string{"train", "test"}, Parts: []component.Samples{part, part}}
		s.Fail(func(_ int, r *http.Request) objectstoretest.Fault {
			if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/test.") {
				o.Put("bucket/two/train."+name, []byte("theirs"))
			}
			return objectstoretest.Fault{}
		})
		if _, err := put(t, name, "s3://bucket/two", nil, in); !errors.Is(err, objectstore.ErrChanged) || !strings.Contains(err.Error(), "train."+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFarSinksFail checks that any failure leaves a whole file or none, and that the error
// says where.
func TestFarSinksFail(t *testing.T) {
	s, o := objectstoretest.S3(t)
	samples := texts("jsonl", []int{5, 5, 5})
	broken := dataset.Func(len(samples), func(_ context.Context, i int) (dataset.Sample, error) {
		if i == 2 {
			return dataset.Sample{}, errors.New("no such sample")
		}
		return samples[i], nil
	})
	if _, err := put(t, "jsonl", "s3://bucket/a.jsonl", nil, component.One(broken)); err == nil || len(o.Names()) != 0 {
		t.Errorf("%v, there is %v", err, o.Names())
	}
	in := component.One(dataset.List(samples...))
	s.Fail(func(_ int, r *http.Request) objectstoretest.Fault {
		if r.Method == http.MethodPut {
			return objectstoretest.Fault{Status: http.StatusForbidden}
		}
		return objectstoretest.Fault{}
	})
	if _, err := put(t, "jsonl", "s3://bucket/a.jsonl", nil, in); err == nil || !strings.Contains(err.Error(), "s3://bucket/a.jsonl: ") || !strings.Contains(err.Error(), "may write") || len(o.Names()) != 0 {
		t.Errorf("%v, there is %v", err, o.Names())
	}
	s.Fail(func(_ int, r *http.Request) objectstoretest.Fault {
		return objectstoretest.Fault{Status: http.StatusNotFound}
	})
	computed := dataset.Func(1, func(context.Context, int) (dataset.Sample, error) {
		t.Error("a sample was computed")
		return samples[0], nil
	})
	for _, with := range []map[string]any{nil, {"shard-samples": 1}} {
		if _, err := put(t, "jsonl", "s3://bucket/none", with, component.One(computed)); err == nil || !strings.Contains(err.Error(), "no such bucket") {
			t.Errorf("%v", err)
		}
	}
	s.Fail(nil)
	s.Requests()
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if _, err := put(t, "jsonl", "s3://bucket/a.jsonl", nil, in); err == nil || !strings.Contains(err.Error(), "TMPDIR") || sent(s)["PUT"] != 0 {
		t.Errorf("%v", err)
	}
}

// TestFarSinksRefuse checks that outputs that cannot be written at a URL are errors before
// any request.
func TestFarSinksRefuse(t *testing.T) {
	s, _ := objectstoretest.S3(t)
	for _, c := range []struct {
		sink, path string
		with       map[string]any
		want       string
	}{
		{"jsonl", "s3://bucket/a-{0..3}.jsonl", nil, "%7B"},
		{"jsonl", "s3://bucket/a.jsonl?versionId=hunter2", nil, "old version"},
		{"jsonl", "s3://bucket/dir/", nil, "names a directory"},
		{"parquet", "s3://bucket/dir/", nil, "names a directory"},
		{"webdataset", "s3://bucket/dir/", nil, "names a directory"},
		{"parquet", "s3://bucket/a.parquet", map[string]any{"shard-samples": 1}, "remove the extension"},
		{"csv", "http://me:hunter2@host/a.csv", nil, "over http"},
		{"csv", "s3://bucket/a.csv", map[string]any{"files": map[string]string{"text": "file"}}, "files is not supported for a URL"},
		{"jsonl", "s3://bucket/a.jsonl", map[string]any{"files": map[string]string{"text": "file"}}, "files is not supported for a URL"},
	} {
		sink, params := sinkOf(t, c.sink, c.path, c.with)
		err := sink.Check(params)
		if err == nil {
			single, _ := component.As[component.SingleChecker](params)
			err = single.CheckSingle()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	if n := s.Requests(); len(n) != 0 {
		t.Errorf("%v was requested", n)
	}
}
