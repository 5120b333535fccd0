package embedproxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRefused checks that an invalid request is refused with the reason.
func TestRefused(t *testing.T) {
	many := strings.Repeat(`"a",`, maxInputs) + `"a"`
	for body, want := range map[string]string{
		``:                                                            "not a JSON object",
		`[]`:                                                          "not a JSON object",
		`null`:                                                        "not a JSON object",
		`{"model": "m"`:                                               "not a JSON object",
		`{"input": "x"}`:                                              "model: name one",
		`{"model": 3, "input": "x"}`:                                  "model: must be a string",
		`{"model": "m"}`:                                              "input: give a string",
		`{"model": "m", "input": []}`:                                 "at least one",
		`{"model": "m", "input": null}`:                               "at least one",
		`{"model": "m", "input": {}}`:                                 "input: must be",
		`{"model": "m", "input": 1}`:                                  "input: must be",
		`{"model": "m", "input": ["a", null]}`:                        "input: must be",
		`{"model": "m", "input": ["a", 1]}`:                           "input: must be",
		`{"model": "m", "input": [1, "a"]}`:                           "input: must be",
		`{"model": "m", "input": [1.5]}`:                              "input: must be",
		`{"model": "m", "input": [-1]}`:                               "input: must be",
		`{"model": "m", "input": [1, null]}`:                          "input: must be",
		`{"model": "m", "input": [[1], null]}`:                        "input: must be",
		`{"model": "m", "input": [[1], "a"]}`:                         "input: must be",
		`{"model": "m", "input": [[[1]]]}`:                            "input: must be",
		`{"model": "m", "input": [[]]}`:                               "list 0 has no tokens",
		`{"model": "m", "input": [` + many + `]}`:                     "a request may have 2048",
		`{"model": "m", "input": "x", "dimensions": 0}`:               "dimensions: must be",
		`{"model": "m", "input": "x", "dimensions": 1.5}`:             "dimensions: must be",
		`{"model": "m", "input": "x", "encoding_format": "int8"}`:     "encoding_format: must be",
		`{"model": "m", "input": "half \ud83d of one"}`:               "a lone surrogate (\\ud83d) at byte 30",
		`{"model": "m", "input": "\udE00\ud83d"}`:                     "a lone surrogate",
		"{\"model\": \"m\", \"input\": \"\xff\"}":                     "not UTF-8",
		`{"model": "m", "input": "x", "deep": ` + nested(20000) + `}`: "not a JSON object",
	} {
		shown := body[:min(len(body), 60)]
		if _, err := parseRequest([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", shown, err, want)
		}
	}
	for _, body := range []string{
		`{"model": "m", "input": "\ud83d\uDE00 and \\ud83d and \u00e9 and \\\\"}`,
		`{"model": "m", "input": "�"}`,
	} {
		if _, err := parseRequest([]byte(body)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// TestAccess checks which clients have access, and how they must ask.
func TestAccess(t *testing.T) {
	const body = `{"model": "m", "input": "x"}`
	for name, c := range map[string]struct {
		options Options
		host    string
		query   string
		header  []string
		status  int
		upkey   string // Authorization that the upstream got
	}{
		"no client asks":          {status: 200},
		"no JSON":                 {header: []string{"Content-Type", "text/plain"}, status: 415},
		"JSON in UTF-8":           {header: []string{"Content-Type", "application/json; charset=utf-8"}, status: 200},
		"a query":                 {query: "?api-version=1", status: 400},
		"local":                   {options: Options{Local: true}, host: "127.0.0.1:8700", status: 200},
		"local by name":           {options: Options{Local: true}, host: "localhost:8700", status: 200},
		"local, 6":                {options: Options{Local: true}, host: "[::1]", status: 200},
		"another name":            {options: Options{Local: true}, host: "evil.example:8700", status: 403},
		"no token":                {options: Options{Token: "t"}, header: []string{"Authorization", "Bearer t"}, status: 401},
		"a token":                 {options: Options{Token: "t"}, header: []string{"X-Larder-Token", "t", "Authorization", "Bearer k"}, status: 200, upkey: "Bearer k"},
		"another token":           {options: Options{Token: "t"}, header: []string{"X-Larder-Token", "T"}, status: 401},
		"a key, no token":         {options: Options{Token: "t", UpstreamKey: "k"}, status: 401},
		"a key, a token":          {options: Options{Token: "t", UpstreamKey: "k"}, header: []string{"Authorization", "Bearer t"}, status: 200, upkey: "Bearer k"},
		"a key, another token":    {options: Options{Token: "t", UpstreamKey: "k"}, header: []string{"Authorization", "Bearer k"}, status: 401},
		"a key, a token's header": {options: Options{Token: "t", UpstreamKey: "k"}, header: []string{"X-Larder-Token", "t", "Authorization", "Bearer mine"}, status: 200, upkey: "Bearer k"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.options)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/v1/embeddings"+c.query, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			if c.host != "" {
				r.Host = c.host
			}
			for i := 0; i < len(c.header); i += 2 {
				r.Header.Set(c.header[i], c.header[i+1])
			}
			if got := b.do(r); got.status != c.status {
				t.Errorf("status %d: %s", got.status, got.body)
			}
			if calls := len(b.fake.calls); (calls == 1) != (c.status == http.StatusOK) {
				t.Fatalf("%d calls", calls)
			}
			if c.status == http.StatusOK && b.fake.calls[0].header.Get("Authorization") != c.upkey {
				t.Errorf("the upstream got %q", b.fake.calls[0].header.Get("Authorization"))
			}
		})
	}
}

// TestOptions checks that conflicting options are refused, without secrets in the message.
func TestOptions(t *testing.T) {
	for upstream, want := range map[string]string{
		"":                          "not a URL",
		"ftp://x":                   "not a URL",
		"api.example/v1":            "not a URL",
		"https://":                  "not a URL",
		"https://u:secret@x/v1":     "password",
		"https://x/v1?key=secret":   "query",
		"https://u:secret@x/%zz":    "not a URL",
		"//u:secret@api.example/v1": "not a URL",
	} {
		if _, err := New(Options{Upstream: upstream}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", upstream, err)
		}
	}
	if _, err := New(Options{Upstream: "https://x", UpstreamKey: "k"}); err == nil {
		t.Error("a key without a token")
	}
	for text, want := range map[string]string{"HTTPS://API.example/v1/": "https://api.example/v1", "https://x/v1/embeddings": "https://x/v1", "http://x": "http://x"} {
		if got, err := parseUpstream(text); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// TestLimits checks that bodies and concurrent requests are bounded.
func TestLimits(t *testing.T) {
	b := newBench(t, Options{})
	if r := b.post(`{"model": "m", "input": "` + strings.Repeat("x", maxRequest) + `"}`); r.status != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", r.status)
	}
	for range maxWaiting {
		b.h.waiting <- struct{}{}
	}
	if r := b.post(texts("x")); r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") != "1" {
		t.Errorf("status %d, %v", r.status, r.header)
	}
}

// FuzzRequest checks that any body gives a request or an error, and that a request is sent
// on so that it parses the same.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"model": "m", "input": "x"}`, `{"model": "m", "input": ["a", "\ud83d\ude00"], "user": "u", "encoding_format": "base64"}`,
		`{"model": "m", "input": [1, 2], "dimensions": 3, "x": {"b": [1e2, null], "a": "<"}}`, `{"model": "m", "input": [[1], [2, 3]]}`,
		`{"model": "m", "input": [[], ]}`, `{"input": [`, `{"model": "\ud800", "input": ""}`, `{"model":"m","input":[ ]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := parseRequest(body)
		if err != nil {
			return
		}
		sent := q.body(q.inputs, q.base64)
		again, err := parseRequest(sent)
		if err != nil {
			t.Fatalf("%s was sent on as %s: %v", body, sent, err)
		}
		if fmt.Sprint(again.inputs) != fmt.Sprint(q.inputs) || string(again.body(again.inputs, again.base64)) != string(sent) {
			t.Fatalf("%s was sent on as %s", body, sent)
		}
		a, err := q.op(&Options{Identity: "u"})
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if b, err := again.op(&Options{Identity: "u"}); err != nil || a.Key() != b.Key() {
			t.Fatalf("%s and %s have two keys, %v", body, sent, err)
		}
	})
}

// FuzzAnswer checks that any answer of an upstream gives vectors or an error, and that
// vectors are returned unchanged.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"data": [{"index": 0, "embedding": [1, 0.1, -2e-3]}], "model": "m", "usage": {"prompt_tokens": 1}}`,
		`{"data": [{"index": 0, "embedding": "AACAPwAAAEA="}]}`, `{"data": [{"index": 0, "embedding": [ ]}]}`, `{"data": [{}]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		all, _, err := parseAnswer(body, 1, 0)
		if err != nil {
			return
		}
		text := appendNumbers(nil, all[0].Vector)
		if v, err := parseVector(json.RawMessage(text)); err != nil || string(v.Data) != string(all[0].Vector.Data) {
			t.Fatalf("%s came out as %s: %v", body, text, err)
		}
		if v, err := parseVector(appendBase64(nil, all[0].Vector)); err != nil || v.Len() != all[0].Vector.Len() {
			t.Fatalf("%s in base64: %v", body, err)
		}
	})
}
