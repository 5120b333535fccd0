package embedproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
)

// TestForms checks that each form of an input is answered as by the upstream, in both
// formats, and not requested again.
func TestForms(t *testing.T) {
	forms := map[string]struct {
		input  string
		inputs []string // as the upstream gets them
	}{
		"text":   {`"a \u00e9 <b>"`, []string{`"a é <b>"`}},
		"texts":  {`["one", "two", "one"]`, []string{`"one"`, `"two"`, `"one"`}},
		"empty":  {`""`, []string{`""`}},
		"tokens": {`[1, 2 ,300]`, []string{`[1,2,300]`}},
		"lists":  {`[[1, 2], [3]]`, []string{`[1,2]`, `[3]`}},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			distinct := len(slices.Compact(slices.Sorted(slices.Values(form.inputs))))
			for round, format := range []string{"float", "base64", "float"} {
				got, asked := b.ok(fmt.Sprintf(`{"model": "m", "input": %s, "encoding_format": %q}`, form.input, format))
				if want := []int{distinct, 0, 0}[round]; asked != fmt.Sprint(want) || got.Usage.PromptTokens != int64(want) {
					t.Errorf("round %d: requested %s, usage %v, want %d", round, asked, got.Usage, want)
				}
				if len(got.Data) != len(form.inputs) || got.Model != "m-001" {
					t.Fatalf("round %d: %s", round, got.body)
				}
				for i, in := range form.inputs {
					vector := vectorOf("m", in)
					want := any(vector)
					if format == "base64" {
						want = base64Of(vector)
					}
					if text, _ := json.Marshal(want); got.Data[i].Index != i || !sameNumbers(t, got.Data[i].Embedding, text) {
						t.Errorf("%s %d: %s, want %s", format, i, got.Data[i].Embedding, text)
					}
				}
			}
			if n := b.fake.count(); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// sameNumbers reports whether two JSON values are the same string, or lists of the same
// float32s.
func sameNumbers(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	if a[0] == '"' {
		return bytes.Equal(a, b)
	}
	var x, y []float32
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return slices.Equal(x, y)
}

// TestKeys checks that exactly the parameters that could change a vector cause another
// request.
func TestKeys(t *testing.T) {
	b := newBench(t, Options{})
	first := `{"model": "m", "input": "x", "extra": {"a": 1, "b": "2"}}`
	same := map[string]string{
		"the same":       first,
		"another order":  `{"extra": {"b": "2", "a": 1}, "input": ["x"], "model": "m"}`,
		"another user":   `{"model": "m", "input": "x", "extra": {"a": 1, "b": "2"}, "user": "u"}`,
		"another format": `{"model": "m", "input": "x", "extra": {"a": 1, "b": "2"}, "encoding_format": "base64"}`,
		"null":           `{"model": "m", "input": "x", "extra": {"a": 1, "b": "2"}, "dimensions": null}`,
	}
	other := map[string]string{
		"model":          `{"model": "n", "input": "x", "extra": {"a": 1, "b": "2"}}`,
		"input":          `{"model": "m", "input": "X", "extra": {"a": 1, "b": "2"}}`,
		"dimensions":     `{"model": "m", "input": "x", "extra": {"a": 1, "b": "2"}, "dimensions": 4}`,
		"a member":       `{"model": "m", "input": "x", "extra": {"a": 1, "b": 2}}`,
		"no member":      `{"model": "m", "input": "x"}`,
		"more members":   `{"model": "m", "input": "x", "extra": {"a": 1, "b": "2"}, "input_type": "query"}`,
		"another case":   `{"model": "m", "input": "x", "Extra": {"a": 1, "b": "2"}}`,
		"text of tokens": `{"model": "t", "input": "1,2"}`,
		"tokens":         `{"model": "t", "input": [1, 2]}`,
		"a list in JSON": `{"model": "t", "input": "[1,2]"}`,
	}
	if _, asked := b.ok(first, "Authorization", "Bearer one"); asked != "1" {
		t.Fatalf("requested %s", asked)
	}
	for name, body := range same {
		if _, asked := b.ok(body, "Authorization", "Bearer other", "OpenAI-Organization", "o"); asked != "0" {
			t.Errorf("%s: requested %s", name, asked)
		}
	}
	for name, body := range other {
		if _, asked := b.ok(body); asked != "1" {
			t.Errorf("%s: requested %s", name, asked)
		}
	}
	for _, o := range []Options{{Identity: "another"}, {Floats: true}} {
		b.open(o)
		if _, asked := b.ok(first); asked != "1" {
			t.Errorf("%+v: requested %s", o, asked)
		}
	}
	b.open(Options{})
	if _, asked := b.ok(first); asked != "0" {
		t.Errorf("another process: requested %s", asked)
	}
}

// TestBatches checks that missing inputs are requested in batches within their bounds,
// equal ones once.
func TestBatches(t *testing.T) {
	b := newBench(t, Options{Batch: 10, BatchBytes: 100, Calls: 1})
	b.ok(texts("2", "4"))
	b.fake.count()
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprint(i%15), fmt.Sprint(i%15))
	}
	all = append(all, strings.Repeat("l", 70), strings.Repeat("m", 70), strings.Repeat("n", 200))
	if _, asked := b.ok(texts(all...)); asked != "16" {
		t.Errorf("requested %s", asked)
	}
	var sizes []int
	for _, c := range b.fake.calls {
		sizes = append(sizes, len(c.Input))
	}
	// The last of the short inputs share a batch with the first long one.
	if !slices.Equal(sizes, []int{10, 4, 1, 1}) {
		t.Errorf("batches of %v", sizes)
	}
	if most, inputs := b.fake.most(); most != 1 || inputs != 18 {
		t.Errorf("%d inputs, %d times", inputs, most)
	}
}

// TestPartialFailure checks that the successful batches of a failed request are stored.
func TestPartialFailure(t *testing.T) {
	b := newBench(t, Options{Batch: 2, Calls: 1})
	b.fake.before = func(w http.ResponseWriter, _ *http.Request, q *asked) bool {
		if !strings.Contains(q.body, "bad") {
			return false
		}
		w.Header().Set("X-Request-Id", "r1")
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"error": "too long"}`)
		return true
	}
	body := texts("1", "2", "3", "bad", "5", "6")
	got := b.post(body)
	if got.status != http.StatusUnprocessableEntity || got.body != `{"error": "too long"}` || got.header.Get("X-Request-Id") != "r1" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	b.fake.before = nil
	if _, asked := b.ok(body); asked != "4" {
		t.Errorf("requested %s", asked)
	}
}

// TestOverlap checks that concurrent clients with overlapping strings request each once.
func TestOverlap(t *testing.T) {
	b := newBench(t, Options{Batch: 16, Calls: 3})
	b.fake.before = func(http.ResponseWriter, *http.Request, *asked) bool {
		for range 100 {
			runtime.Gosched() // so that they meet
		}
		return false
	}
	var clients sync.WaitGroup
	for c := range 8 {
		clients.Go(func() {
			for round := range 10 {
				var all []string
				for i := range 60 {
					all = append(all, fmt.Sprintf("text %d", (c*37+round*20+i*(c+1))%300))
				}
				got := b.post(texts(all...))
				if got.status != http.StatusOK || len(got.Data) != len(all) {
					t.Errorf("%d %s", got.status, got.body)
					return
				}
				for i, in := range all {
					want, _ := json.Marshal(vectorOf("m", `"`+in+`"`))
					if !sameNumbers(t, got.Data[i].Embedding, want) {
						t.Errorf("%s: %s", in, got.Data[i].Embedding)
					}
				}
			}
		})
	}
	clients.Wait()
	if most, inputs := b.fake.most(); most != 1 || inputs < 250 {
		t.Errorf("%d inputs, requested %d times", inputs, most)
	}
}

// TestClientGone checks that a client that disconnects ends its calls, unless others wait
// for them.
func TestClientGone(t *testing.T) {
	for _, others := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, Options{})
			ended, goOn := false, make(chan bool)
			b.fake.before = func(_ http.ResponseWriter, r *http.Request, _ *asked) bool {
				select {
				case <-r.Context().Done():
					ended = true
				case <-goOn:
				}
				return ended
			}
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			first, second := make(chan *reply, 1), make(chan *reply, 1)
			go func() { first <- b.postUntil(ctx, texts("x")) }()
			synctest.Wait() // the upstream call is in progress
			if others {
				go func() { second <- b.post(texts("x")) }()
				synctest.Wait() // and others wait for it
			}
			leave()
			synctest.Wait()
			if <-first; ended == others || b.h.metrics.gone.Load() != 1 {
				t.Errorf("others wait: %v; the call ended: %v; %d have gone", others, ended, b.h.metrics.gone.Load())
			}
			if !others {
				return
			}
			close(goOn)
			if r := <-second; r.status != http.StatusOK {
				t.Errorf("the second got %d", r.status)
			}
			if most, _ := b.fake.most(); most != 1 {
				t.Errorf("requested %d times", most)
			}
		})
	}
}

// TestCredentials checks that they reach the upstream and are stored nowhere. Input strings
// are stored nowhere either.
func TestCredentials(t *testing.T) {
	b := newBench(t, Options{})
	b.ok(`{"model": "m", "input": "the text itself", "api_key": "sk-in-the-body"}`, "Authorization", "Bearer sk-secret", "Api-Key", "sk-azure",
		"OpenAI-Organization", "org-secret", "OpenAI-Project", "prj-secret", "X-Other", "other", "Cookie", "c=cookie-secret")
	got := b.fake.calls[0]
	for name, want := range map[string]string{"Authorization": "Bearer sk-secret", "Api-Key": "sk-azure", "Openai-Organization": "org-secret", "Openai-Project": "prj-secret", "X-Other": "", "Cookie": ""} {
		if v := got.header.Get(name); v != want {
			t.Errorf("%s: %q, want %q", name, v, want)
		}
	}
	b.fake.before = func(w http.ResponseWriter, _ *http.Request, _ *asked) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	if r := b.post(texts("another text"), "Authorization", "Bearer sk-secret"); r.status != http.StatusUnauthorized {
		t.Errorf("status %d", r.status)
	}
	b.fake.down = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	b.open(Options{Retries: -1})
	if r := b.post(texts("another text"), "Authorization", "Bearer sk-secret"); r.status != http.StatusBadGateway || strings.Contains(r.body, "secret") {
		t.Errorf("status %d: %s", r.status, r.body)
	}
	_ = b.h.o.Larder.Close()
	cached := 0
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		cached += bytes.Count(content, []byte("m-001"))
		for _, secret := range []string{"secret", "sk-", "the text itself", "another text"} {
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s has %q", path, secret)
			}
		}
		return err
	})
	if err != nil || cached == 0 {
		t.Errorf("%v; %d records found", err, cached)
	}
	if log := b.log.String(); strings.Contains(log, "secret") || strings.Contains(log, "text") {
		t.Error(log)
	}
}

// TestOthersCredentials checks that a client whose call others wait for fails alone.
func TestOthersCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, Options{})
		goOn := make(chan bool)
		b.fake.before = func(w http.ResponseWriter, r *http.Request, _ *asked) bool {
			if r.Header.Get("Authorization") == "Bearer good" {
				return false
			}
			<-goOn
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, "no such key: bad")
			return true
		}
		all := []string{"1", "2", "3", "4", "5"}
		first, second := make(chan *reply, 1), make(chan *reply, 1)
		go func() { first <- b.post(texts(all...), "Authorization", "Bearer bad") }()
		synctest.Wait()
		go func() { second <- b.post(texts(append(all, "6")...), "Authorization", "Bearer good") }()
		synctest.Wait()
		close(goOn)
		if r := <-first; r.status != http.StatusUnauthorized || r.body != "no such key: bad" {
			t.Errorf("the bad one: %d %s", r.status, r.body)
		}
		if r := <-second; r.status != http.StatusOK || r.header.Get("X-Larder-Asked") != "6" {
			t.Errorf("the good one: %d %s", r.status, r.body)
		}
		if n := b.fake.count(); n != 3 { // for the bad one, for the 6, and for the others together
			t.Errorf("%d calls", n)
		}
	})
}

// TestShares checks that waiters do not repeat a request that the upstream failed, and that
// only the requesting client gets the upstream's message.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, Options{Retries: -1})
		goOn := make(chan bool)
		b.fake.before = func(w http.ResponseWriter, _ *http.Request, _ *asked) bool {
			<-goOn
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, "of the first")
			return true
		}
		first, second := make(chan *reply, 1), make(chan *reply, 1)
		go func() { first <- b.post(texts("x")) }()
		synctest.Wait()
		go func() { second <- b.post(texts("x")) }()
		synctest.Wait()
		close(goOn)
		if r := <-first; r.status != http.StatusInternalServerError || r.body != "of the first" {
			t.Errorf("%d %s", r.status, r.body)
		}
		if r := <-second; r.status != http.StatusInternalServerError || strings.Contains(r.body, "of the first") {
			t.Errorf("%d %s", r.status, r.body)
		}
		if n := b.fake.count(); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestRest checks which other paths are served, and which are not.
func TestRest(t *testing.T) {
	b := newBench(t, Options{})
	get := func(path string) *reply {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer k")
		return b.do(r)
	}
	b.ok(texts("a", "b", "a"))
	b.ok(texts("a"))
	for path, want := range map[string]string{
		"/healthz":             "ok",
		"/v1/models":           `{"path":"/v1/models","key":"Bearer k"}`,
		"/v1/models/a/b":       `{"path":"/v1/models/a/b","key":"Bearer k"}`,
		"/metrics":             "larder_embed_inputs_total{from=\"upstream\"} 2\n",
		"/v1/chat/completions": "there is no GET /v1/chat/completions here",
		"/v1/models/a%2f..":    "no model is called so",
	} {
		if got := get(path); !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if text := get("/metrics").body; !strings.Contains(text, "{from=\"shared\"} 1\n") || !strings.Contains(text, "{from=\"memory\"} 1\n") && !strings.Contains(text, "{from=\"store\"} 1\n") {
		t.Error(text)
	}
}

// TestProvenance checks that a record has its parameters, and no input string.
func TestProvenance(t *testing.T) {
	b := newBench(t, Options{})
	b.ok(`{"model": "m", "input": "x", "dimensions": 4, "input_type": "query"}`)
	q, err := parseRequest([]byte(`{"model": "m", "input": "x", "dimensions": 4, "input_type": "query"}`))
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.h.newWork(q, nil)
	if err != nil {
		t.Fatal(err)
	}
	reader := records.ProvenanceReader{Store: b.h.o.Larder.Store()}
	parts, err := reader.Parts(t.Context(), w.calls[0].Action.Key())
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, p := range parts {
		fmt.Fprintln(&text, p.Kind, p.Name, p.Value)
	}
	for _, want := range []string{"embedding", fakeURL, "model", "dimensions 4", "member input_type", key.DigestOf([]byte("x")).String()} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestVerification checks that verified hits are requested again, and that the stored
// result is returned anyway.
func TestVerification(t *testing.T) {
	b := newBench(t, Options{})
	want, _ := b.ok(texts("x", "y"))
	t.Setenv("LARDER_VERIFY", "1")
	b.open(Options{})
	b.ok(texts("x"))
	if m := b.h.o.Larder.Metrics(); m.Verified != 1 || m.Mismatches != 0 {
		t.Errorf("%d verified, %d mismatches", m.Verified, m.Mismatches)
	}
	b.answerWith(http.StatusOK, `{"data": [{"index": 0, "embedding": "`+base64Of(make([]float32, 8))+`"}], "model": "m-001"}`)
	got, _ := b.ok(texts("x", "y"))
	if m := b.h.o.Larder.Metrics(); m.Verified != 2 || m.Mismatches != 1 || !bytes.Equal(got.Data[1].Embedding, want.Data[1].Embedding) {
		t.Errorf("%d verified, %d mismatches; %s", m.Verified, m.Mismatches, got.body)
	}
	if _, asked := b.ok(texts("x", "y")); asked != "0" {
		t.Errorf("requested %s", asked)
	}
}
