package urlpath_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/text/urlpath"
)

func TestIs(t *testing.T) {
	for path, want := range map[string]bool{
		"https://host/a.tar": true, "s3://bucket/a": true, "HTTP://host": true, "a+b-c.1://x": true,
		"a.tar": false, "/data/a.tar": false, `C:\a`: false, "c://a": false, "://a": false, "": false, "a b://c": false, "./https://x": false,
	} {
		if got := urlpath.Is(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

func TestName(t *testing.T) {
	for path, want := range map[string]string{
		"https://me:secret@host:8080/a/b.tar?token=secret#secret": "https://host:8080/a/b.tar",
		"https://me:se@cret@host/a@b.tar":                         "https://host/a@b.tar",
		"https://me:se/cr?et@host/a.tar":                          "https://host/a.tar",
		"https://host:80/a@b.tar":                                 "https://host:80/a@b.tar",
		"S3://bucket/a.tar":                                       "s3://bucket/a.tar",
		"https://host":                                            "https://host/",
		"https://host?secret":                                     "https://host/",
		"https://me:secret/a.tar":                                 "https://me/a.tar",
		"http://[::1]:80/a.tar":                                   "http://[::1]:80/a.tar",
		"http://[::1]/a.tar":                                      "http://[::1]/a.tar",
		"data/a?b.tar":                                            "data/a?b.tar",
		"s3://bucket/a#b.tar?versionId=1":                         "s3://bucket/a#b.tar",
	} {
		if got := urlpath.Name(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// TestQuery checks that credentials do not change the identity of a file, and that every
// other parameter does.
func TestQuery(t *testing.T) {
	of := func(query string) string {
		t.Helper()
		u, err := url.Parse("https://host/a?" + query)
		if err != nil {
			t.Fatal(err)
		}
		return urlpath.Query(u)
	}
	for _, q := range []string{"", "token=a", "X-Amz-Signature=1&X-Amz-Date=2", "X-Goog-Expires=1", "sv=1&sig=2&se=3", "Signature=1&Expires=2&Key-Pair-Id=3", "my_access_token=1"} {
		if of(q) != "" {
			t.Errorf("%q names a file", q)
		}
		if of("id=7&"+q) != of("id=7") {
			t.Errorf("%q changes which file it is", q)
		}
	}
	if of("id=7") == of("id=8") || of("id=7") == of("name=7") || of("a=1&b=2") != of("b=2&a=1") {
		t.Error("parameters that say which file it is are not distinguished")
	}
	if strings.Contains(of("id=hidden"), "hidden") {
		t.Error("the value of a parameter can be read")
	}
}

func FuzzName(f *testing.F) {
	f.Add("me:pw", "/a.tar", "token=pw")
	f.Fuzz(func(t *testing.T, user, path, query string) {
		if strings.ContainsAny(user, "/?#") || user == "" {
			t.Skip("no user information")
		}
		name := urlpath.Name("https://" + user + "@h/" + path + "?" + query)
		if !strings.HasPrefix(name, "https://h/") || strings.Contains(name, "?") {
			t.Errorf("%q", name)
		}
	})
}

func TestHide(t *testing.T) {
	for text, want := range map[string]string{
		"path: 'https://me:pw@host/a?token=b' # more?": "path: 'https://*****@host/a?*******' # more?",
		"https://host/a@b.tar s3://äö:x@h":             "https://host/a@b.tar s3://****@h",
		"{path: https://u@h?x}":                        "{path: https://*@h?**",
		"http:/me:pw@host/a":                           "http:/*****@host/a",
		"http://me:p/w?@host/a":                        "http://*******@host/a",
		"http://me:p w@host/a: no":                     "http://******@host/a: no",
		"to http://h/%zz?X-Amz-Signature=pw; stop":     "to http://h/%zz?******************; stop",
		"/x?sig=pw&id=7":                               "/x?sig=**&id=7",
		"(https://USER:PASSWORD@HOST/...)":             "(https://USER:PASSWORD@HOST/...)",
		"no URL, ://":                                  "no URL, ://",
	} {
		if got := urlpath.Hide(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzHide checks that a hidden part has as many characters.
func FuzzHide(f *testing.F) {
	f.Add("a https://me:pw@host/a?b c")
	f.Fuzz(func(t *testing.T, text string) {
		if got := urlpath.Hide(text); len([]rune(got)) != len([]rune(text)) {
			t.Errorf("%q: %q", text, got)
		}
	})
}
