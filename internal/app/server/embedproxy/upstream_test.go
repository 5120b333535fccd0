package embedproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// answerWith sets the fake's answer, once or always.
func (b *bench) answerWith(status int, body string, header ...string) {
	b.fake.before = func(w http.ResponseWriter, _ *http.Request, _ *asked) bool {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// TestWrongAnswers checks that an impossible answer is an error, and that nothing of it is
// stored.
func TestWrongAnswers(t *testing.T) {
	one := func(index, vector string) string { return `{"index": ` + index + `, "embedding": ` + vector + `}` }
	list := func(all ...string) string { return `{"data": [` + strings.Join(all, ",") + `], "model": "m"}` }
	answers := map[string]string{
		"no JSON":              `<html>`,
		"another JSON":         `[1]`,
		"an error":             `{"error": {"message": "no"}}`,
		"too few":              list(one("0", "[1,2]")),
		"too many":             list(one("0", "[1,2]"), one("1", "[1,2]"), one("2", "[1,2]")),
		"an index twice":       list(one("0", "[1,2]"), one("0", "[1,2]")),
		"an index too large":   list(one("0", "[1,2]"), one("2", "[1,2]")),
		"an index below 0":     list(one("-1", "[1,2]"), one("0", "[1,2]")),
		"no index":             list(`{"embedding": [1,2]}`, `{"embedding": [1,2]}`),
		"no vector":            list(`{"index": 0}`, one("1", "[1,2]")),
		"null":                 list(one("0", "null"), one("1", "[1,2]")),
		"empty":                list(one("0", "[]"), one("1", "[]")),
		"two lengths":          list(one("0", "[1,2]"), one("1", "[1]")),
		"other dimensions":     list(one("0", "[1]"), one("1", "[1]")),
		"null in a vector":     list(one("0", "[1,null]"), one("1", "[1,2]")),
		"a string in a vector": list(one("0", `[1,"2"]`), one("1", "[1,2]")),
		"a nested vector":      list(one("0", "[[1,2]]"), one("1", "[1,2]")),
		"NaN":                  list(one("0", "[1,NaN]"), one("1", "[1,2]")),
		"beyond float64":       list(one("0", "[1,1e999]"), one("1", "[1,2]")),
		"beyond float32":       list(one("0", "[1,1e39]"), one("1", "[1,2]")),
		"no base64":            list(one("0", `"%"`), one("1", "[1,2]")),
		"base64 cut off":       list(one("0", `"AAAAAAA="`), one("1", "[1,2]")),
		"NaN in base64":        list(one("0", `"`+base64Of([]float32{1, float32(math.NaN())})+`"`), one("1", "[1,2]")),
		"infinity in base64":   list(one("0", `"`+base64Of([]float32{1, float32(math.Inf(1))})+`"`), one("1", "[1,2]")),
		"negative usage":       `{"data": [` + one("0", "[1,2]") + "," + one("1", "[1,2]") + `], "usage": {"prompt_tokens": -1}}`,
	}
	b := newBench(t, Options{})
	body := `{"model": "m", "input": ["a", "b"], "dimensions": 2}`
	for name, answer := range answers {
		b.answerWith(http.StatusOK, answer)
		if r := b.post(body); r.status != http.StatusBadGateway || !strings.Contains(r.body, "cannot be right") {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	b.fake.before = nil
	if _, asked := b.ok(body); asked != "2" {
		t.Errorf("something wrong was cached: requested %s", asked)
	}
}

// TestPrecision checks that clients get the upstream's values: exactly as numbers, and the
// nearest float32s as base64.
func TestPrecision(t *testing.T) {
	single := func(f float32) string { return fmt.Sprint(float64(f)) }
	for name, c := range map[string]struct {
		vector, number string
		bytes          int // stored bytes
	}{
		"float32, short":   {"0.1", "0.1", 8},
		"float32, in full": {single(0.1), single(0.1), 4},
		"float64":          {"0.12345678901234567", "0.12345678901234567", 8},
		"an integer":       {"1", "1", 4},
		"small":            {"1e-40", "1e-40", 8},
		"zero":             {"-0.0", "-0", 4},
		"base64":           {`"` + base64Of([]float32{0.1}) + `"`, single(0.1), 4},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			if c.vector[0] != '"' {
				c.vector = "[" + c.vector + "]"
			}
			b.answerWith(http.StatusOK, `{"data": [{"index": 0, "embedding": `+c.vector+`}], "model": "m"}`)
			for range 2 {
				got, _ := b.ok(texts("x"))
				var want, have []float64
				if err := errors.Join(json.Unmarshal([]byte("["+c.number+"]"), &want), json.Unmarshal(got.Data[0].Embedding, &have)); err != nil || math.Float64bits(want[0]) != math.Float64bits(have[0]) {
					t.Errorf("%s, want %s", got.Data[0].Embedding, c.number)
				}
				got, _ = b.ok(`{"model": "m", "input": "x", "encoding_format": "base64"}`)
				if text := base64Of([]float32{float32(want[0])}); string(got.Data[0].Embedding) != `"`+text+`"` {
					t.Errorf("%s, want %s", got.Data[0].Embedding, text)
				}
			}
			if v, err := parseVector(json.RawMessage(c.vector)); err != nil || len(v.Data) != c.bytes {
				t.Errorf("%d bytes, %v", len(v.Data), err)
			}
		})
	}
}

// TestFormats checks that an upstream that refuses base64 gets requests for numbers from
// then on.
func TestFormats(t *testing.T) {
	b := newBench(t, Options{})
	b.fake.before = func(w http.ResponseWriter, _ *http.Request, q *asked) bool {
		if q.Format == "base64" {
			http.Error(w, "no such format", http.StatusBadRequest)
		}
		return q.Format == "base64"
	}
	b.ok(texts("a"))
	b.ok(texts("b"))
	if n := b.fake.count(); n != 3 {
		t.Errorf("%d calls", n)
	}
	b = newBench(t, Options{})
	b.ok(texts("a"))
	b.answerWith(http.StatusBadRequest, "too long")
	if r := b.post(texts("b")); r.status != http.StatusBadRequest {
		t.Errorf("status %d", r.status)
	}
	if n := b.fake.count(); n != 2 {
		t.Errorf("%d calls of one that knows base64", n)
	}
}

// TestRetries checks that only temporary refusals are retried, a bounded number of times,
// when the upstream says.
func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		status, calls int
		header        []string
		least, most   time.Duration
		down          error
		want          int
	}{
		"busy":             {status: 503, calls: 3, least: time.Second * 3 / 4, most: 3 * time.Second / 2},
		"too many":         {status: 429, calls: 3, header: []string{"Retry-After", "7"}, least: 14 * time.Second, most: 14 * time.Second},
		"in milliseconds":  {status: 429, calls: 3, header: []string{"Retry-After-Ms", "2500"}, least: 5 * time.Second, most: 5 * time.Second},
		"much too many":    {status: 429, calls: 1, header: []string{"Retry-After", "3600"}},
		"failed":           {status: 500, calls: 3, least: time.Second * 3 / 4, most: 3 * time.Second / 2},
		"wrong":            {status: 404, calls: 1},
		"not let in":       {status: 401, calls: 1},
		"not there":        {down: &net.OpError{Op: "dial", Err: errors.New("refused")}, want: 502, least: time.Second * 3 / 4, most: 3 * time.Second / 2},
		"broken off":       {down: io.ErrUnexpectedEOF, want: 502},
		"another URL":      {status: 307, calls: 1, want: 502, header: []string{"Location", "http://elsewhere.example"}},
		"no answer at all": {status: 204, calls: 1, want: 502},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, Options{Retries: 2})
				b.answerWith(c.status, "said", c.header...)
				b.fake.down = c.down
				began := time.Now()
				got := b.post(texts("x"), "Authorization", "Bearer k")
				if c.want == 0 {
					c.want = c.status
					if got.body != "said" || len(c.header) > 0 && got.header.Get(c.header[0]) != c.header[1] {
						t.Errorf("%s %v", got.body, got.header)
					}
				}
				if took := time.Since(began); got.status != c.want || took < c.least || took > c.most {
					t.Errorf("status %d after %v: %s", got.status, took, got.body)
				}
				if n := b.fake.count(); n != c.calls {
					t.Errorf("%d calls", n)
				}
				b.fake.before, b.fake.down = nil, nil
				b.ok(texts("x"))
			})
		})
	}
}

// TestRecovers checks that a call that succeeds at a retry is an ordinary answer.
func TestRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, Options{})
		failures := 2
		b.fake.before = func(w http.ResponseWriter, _ *http.Request, _ *asked) bool {
			failures--
			if failures >= 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return failures >= 0
		}
		if got, asked := b.ok(texts("x", "y")); asked != "2" || got.Usage.PromptTokens != 2 {
			t.Errorf("requested %s, %v", asked, got.Usage)
		}
		if n := b.h.metrics.retries.Load(); n != 2 {
			t.Errorf("%d retries", n)
		}
	})
}

// TestTimeout checks that an upstream that does not answer is given up, without a retry.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, Options{Timeout: 5 * time.Second})
		b.fake.before = func(_ http.ResponseWriter, r *http.Request, _ *asked) bool {
			<-r.Context().Done()
			return true
		}
		began := time.Now()
		if r := b.post(texts("x")); r.status != http.StatusGatewayTimeout || !strings.Contains(r.body, "within 5s") || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %d %s", time.Since(began), r.status, r.body)
		}
		if n := b.fake.count(); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestCallsAtOnce checks the bound on concurrent calls of the upstream.
func TestCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, Options{Batch: 1, Calls: 3})
		goOn := make(chan bool)
		var now atomic.Int64
		b.fake.before = func(http.ResponseWriter, *http.Request, *asked) bool {
			now.Add(1)
			<-goOn
			return false
		}
		done := make(chan *reply)
		for c := range 5 {
			go func() {
				done <- b.post(texts(fmt.Sprint(c, "a"), fmt.Sprint(c, "b"), fmt.Sprint(c, "c"), fmt.Sprint(c, "d")))
			}()
		}
		synctest.Wait()
		if n := now.Load(); n != 3 {
			t.Errorf("%d concurrently", n)
		}
		close(goOn)
		for range 5 {
			if r := <-done; r.status != http.StatusOK {
				t.Error(r.status)
			}
		}
	})
}

// TestLargeAnswers checks that reading an answer or a refusal stops at the largest possible
// size.
func TestLargeAnswers(t *testing.T) {
	b := newBench(t, Options{})
	b.answerWith(http.StatusOK, strings.Repeat(" ", 3*maxPerVector))
	if r := b.post(texts("x")); r.status != http.StatusBadGateway || !strings.Contains(r.body, "larger than") {
		t.Errorf("%d %s", r.status, r.body)
	}
	b.answerWith(http.StatusNotFound, strings.Repeat("x", 3*maxRefusal))
	if r := b.post(texts("x")); r.status != http.StatusNotFound || len(r.body) != maxRefusal {
		t.Errorf("%d, %d bytes", r.status, len(r.body))
	}
}

// TestServedModel checks the single warning if the upstream reports another model than for
// a stored result.
func TestServedModel(t *testing.T) {
	b := newBench(t, Options{})
	b.ok(texts("x"))
	b.answerWith(http.StatusOK, `{"data": [{"index": 0, "embedding": "`+base64Of(make([]float32, 8))+`"}], "model": "m-002"}`)
	b.ok(texts("x", "y"))
	b.ok(texts("x", "z"))
	if n := strings.Count(b.log.String(), "the upstream's model differs"); n != 1 {
		t.Errorf("said %d times: %s", n, b.log)
	}
}
