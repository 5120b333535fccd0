package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// An embedder is an upstream of larder embed that counts the requests for each string.
type embedder struct {
	*httptest.Server
	// hold, if not nil, is called before a call is answered. It reports whether to delay
	// the answer until the client is gone.
	hold func(call int) bool

	mu    sync.Mutex
	seen  map[string]int
	calls int
	owner string   // last credentials
	last  []string // strings of the delayed call
}

func newEmbedder(t *testing.T) *embedder {
	e := &embedder{seen: map[string]int{}}
	e.Server = httptest.NewServer(http.HandlerFunc(e.answer))
	t.Cleanup(e.Close)
	return e
}

func (e *embedder) answer(w http.ResponseWriter, r *http.Request) {
	var q struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	e.calls++
	e.owner = r.Header.Get("Authorization")
	for _, text := range q.Input {
		e.seen[text]++
	}
	held := e.hold != nil && e.hold(e.calls)
	if held {
		e.last = q.Input
	}
	e.mu.Unlock()
	if held {
		<-r.Context().Done()
		return
	}
	var data []map[string]any
	for i, text := range q.Input {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vectorOf(text)})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": "m"})
}

// vectorOf returns the vector of a string, four float32s as base64.
func vectorOf(text string) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%-16.16s", text)) // as floats, these are finite
}

// times returns how many strings were requested how often.
func (e *embedder) times() map[int]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := map[int]int{}
	for _, times := range e.seen {
		n[times]++
	}
	return n
}

// asked returns the number of requests for a string.
func (e *embedder) asked(text string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen[text]
}

// An embedding is a running larder embed.
type embedding struct {
	*exec.Cmd
	url string
}

// embed starts larder embed for an upstream.
func (b *bench) embed(e *embedder, args ...string) *embedding {
	b.t.Helper()
	c := b.command(append([]string{"embed", "--upstream", e.URL, "--listen", "127.0.0.1:0"}, args...)...)
	stderr, err := c.StderrPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "larder: embeddings at "); ok {
			go func() {
				for lines.Scan() {
					b.t.Log(lines.Text())
				}
			}()
			return &embedding{c, url}
		}
	}
	b.t.Fatalf("it ended: %v", c.Wait())
	return nil
}

// kill ends it immediately.
func (e *embedding) kill() {
	_ = e.Process.Kill()
	_ = e.Wait()
}

// ask requests the vectors of strings; an error is one of the connection.
func (e *embedding) ask(ctx context.Context, texts []string) error {
	body, err := json.Marshal(map[string]any{"model": "m", "input": texts, "encoding_format": "base64"})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var answer struct {
		Data []struct{ Embedding string }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK || len(answer.Data) != len(texts) {
		return fmt.Errorf("status %d, %d vectors", res.StatusCode, len(answer.Data))
	}
	for i, text := range texts {
		if answer.Data[i].Embedding != vectorOf(text) {
			return fmt.Errorf("%s: another vector", text)
		}
	}
	return nil
}

// repeating returns 10 000 strings, 7000 of them different, a hundred for each request.
func repeating() (requests [][]string) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []string
	for i := range 7000 {
		all = append(all, fmt.Sprint("text ", i))
	}
	for range 3000 {
		all = append(all, all[random.IntN(7000)])
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := 0; i < len(all); i += 100 {
		requests = append(requests, all[i:i+100])
	}
	return requests
}

// TestEmbedKilledBetween checks that it requests each string once, though it is killed
// twice between requests.
func TestEmbedKilledBetween(t *testing.T) {
	b, e := newBench(t), newEmbedder(t)
	p := b.embed(e, "--batch", "32")
	for i, texts := range repeating() {
		if i == 33 || i == 66 {
			p.kill()
			p = b.embed(e, "--batch", "32")
		}
		if err := p.ask(t.Context(), texts); err != nil {
			t.Fatal(err)
		}
	}
	p.kill()
	if n := e.times(); len(n) != 1 || n[1] != 7000 {
		t.Errorf("texts by how often they were requested: %v", n)
	}
}

// TestEmbedKilledAsking kills it twice during a call to the upstream. It requests the
// strings of that call once more, as no vectors arrived, and no others.
func TestEmbedKilledAsking(t *testing.T) {
	b, e := newBench(t), newEmbedder(t)
	held := make(chan bool)
	e.hold = func(call int) bool {
		if call == 50 || call == 150 {
			close(held)
			return true
		}
		return false
	}
	twice := map[string]bool{}
	p := b.embed(e, "--batch", "32", "--calls", "1")
	for _, texts := range repeating() {
		answered := make(chan error)
		go func() { answered <- p.ask(t.Context(), texts) }()
		select {
		case err := <-answered:
			if err != nil {
				t.Fatal(err)
			}
			continue
		case <-held:
		}
		p.kill()
		if err := <-answered; err == nil {
			t.Fatal("it was answered before the upstream was")
		}
		e.mu.Lock()
		for _, text := range e.last {
			twice[text] = true
		}
		held = make(chan bool)
		e.mu.Unlock()
		p = b.embed(e, "--batch", "32", "--calls", "1")
		if err := p.ask(t.Context(), texts); err != nil {
			t.Fatal(err)
		}
	}
	p.kill()
	if n := e.times(); len(twice) == 0 || n[1] != 7000-len(twice) || n[2] != len(twice) || len(n) != 2 {
		t.Errorf("texts by how often they were requested: %v; %d were under way at the kills", n, len(twice))
	}
	for text := range twice {
		if n := e.asked(text); n != 2 {
			t.Errorf("%s: %d times", text, n)
		}
	}
}

// TestEmbedKilledBusy kills it twice while it serves four clients. It requests again only
// strings of unfinished calls, never those that a client has received.
func TestEmbedKilledBusy(t *testing.T) {
	const batch, calls, clients = 32, 2, 4
	b, e := newBench(t), newEmbedder(t)
	kill := make(chan bool, 2)
	e.hold = func(call int) bool {
		if call == 60 || call == 140 {
			kill <- true
		}
		return false
	}
	start := func() *embedding { return b.embed(e, "--batch", fmt.Sprint(batch), "--calls", fmt.Sprint(calls)) }
	p := start()
	todo, kills, again := repeating(), 0, 0
	for len(todo) > 0 {
		var mu sync.Mutex
		var failed [][]string
		had := map[string]int{} // strings that clients received, with the number of requests by then
		next := make(chan []string)
		var working sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		for range clients {
			working.Go(func() {
				for texts := range next {
					err := p.ask(ctx, texts)
					mu.Lock()
					if err != nil {
						failed = append(failed, texts)
					}
					e.mu.Lock()
					for _, text := range texts {
						if err == nil {
							had[text] = e.seen[text]
						}
					}
					e.mu.Unlock()
					mu.Unlock()
				}
			})
		}
		killed := false
		for len(todo) > 0 && !killed {
			select {
			case next <- todo[0]:
				todo = todo[1:]
			case <-kill:
				killed = true
			}
		}
		if killed {
			kills++
			p.kill()
		}
		close(next)
		working.Wait()
		stop()
		if todo = append(failed, todo...); len(todo) > 0 && !killed {
			t.Fatalf("%d requests failed without a kill", len(failed))
		}
		if len(todo) == 0 {
			break
		}
		p = start()
		for text, times := range had { // all strings that clients received are stored
			if err := p.ask(t.Context(), []string{text}); err != nil {
				t.Fatal(err)
			}
			if e.asked(text) != times {
				t.Fatalf("%s was requested again", text)
			}
		}
	}
	p.kill()
	for times, n := range e.times() {
		again += (times - 1) * n
	}
	t.Logf("%d kills; %d of 7000 texts requested again", kills, again)
	if most := kills * clients * calls * batch; kills != 2 || again > most || len(e.seen) != 7000 {
		t.Errorf("%d kills, %d texts; %d requested again, want %d at most", kills, len(e.seen), again, most)
	}
}

// TestEmbedProcesses checks that two processes with one cache directory request each string
// once.
func TestEmbedProcesses(t *testing.T) {
	b, e := newBench(t), newEmbedder(t)
	processes := []*embedding{b.embed(e, "--batch", "20"), b.embed(e, "--batch", "30")}
	requests := repeating()[:30]
	var clients sync.WaitGroup
	for c := range 4 {
		clients.Go(func() {
			for i := range requests {
				if err := processes[c%2].ask(t.Context(), requests[(i+c/2)%len(requests)]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	for _, p := range processes {
		_ = p.Process.Signal(syscall.SIGTERM)
		if err := p.Wait(); err != nil {
			t.Errorf("ended by SIGTERM: %v", err)
		}
	}
	if n := e.times(); len(n) != 1 {
		t.Errorf("texts by how often they were requested: %v", n)
	}
	r := b.larder("ls", "embedding")
	mustContain(t, "ls", r.stdout, "embedding", fmt.Sprint(len(e.seen)))
}

// TestEmbedRefuses checks that options that are unsafe or impossible are refused before
// anything listens.
func TestEmbedRefuses(t *testing.T) {
	b := newBench(t)
	b.write("token", "0123456789abcdef")
	b.write("short", "0123")
	b.write("open", "0123456789abcdef")
	if err := errors.Join(os.Chmod(b.path("token"), 0o600), os.Chmod(b.path("short"), 0o600), os.Chmod(b.path("open"), 0o644)); err != nil {
		t.Fatal(err)
	}
	const upstream = "--upstream=http://127.0.0.1:1/v1"
	for want, args := range map[string][]string{
		"--upstream is required":                         {},
		"is not a URL such as":                           {"--upstream=x"},
		"must not have a password":                       {"--upstream=http://u:p@x"},
		"other machines can reach this address":          {upstream, "--listen=0.0.0.0:0"},
		":0: other machines can reach this address":      {upstream, "--listen=:0"},
		"--listen: ":                                     {upstream, "--listen=127.0.0.1"},
		"--batch 0: must be":                             {upstream, "--batch=0"},
		"--calls 0: must be":                             {upstream, "--calls=0"},
		"--retries -1: must not be":                      {upstream, "--retries=-1"},
		"--timeout 0s: must be":                          {upstream, "--timeout=0s"},
		`--batch-bytes "x": must be`:                     {upstream, "--batch-bytes=x"},
		"--upstream-key-file: requires --token-file":     {upstream, "--upstream-key-file=token"},
		"other users can read open; run chmod 600":       {upstream, "--token-file=open"},
		"at least 16 characters":                         {upstream, "--token-file=short"},
		"give both --tls-cert and --tls-key, or neither": {upstream, "--tls-cert=c"},
		"--client-ca: no server certificate":             {upstream, "--client-ca=c"},
		"unexpected argument \"x\"":                      {upstream, "x"},
	} {
		r := b.larder(append([]string{"embed"}, args...)...)
		if r.status != 2 {
			t.Errorf("%v: status %d", args, r.status)
		}
		mustContain(t, fmt.Sprint(args), r.stderr, want)
	}
}

// TestEmbedTLS checks that other machines need TLS and the token, and that requests to the
// upstream use the server's own key.
func TestEmbedTLS(t *testing.T) {
	b, e := newBench(t), newEmbedder(t)
	maker := httptest.NewUnstartedServer(nil) // makes a certificate
	maker.StartTLS()
	maker.Close()
	made := maker.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"cert":  string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]})),
		"key":   string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
		"token": "0123456789abcdef\n", "upstream": "sk-upstream\n",
	} {
		b.write(name, text)
		if err := os.Chmod(b.path(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := b.embed(e, "--listen", "0.0.0.0:0", "--token-file", "token", "--upstream-key-file", "upstream", "--tls-cert", "cert", "--tls-key", "key")
	defer p.kill()
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(p.url, "https://"), "/v1"))
	for token, want := range map[string]int{"": 401, "sk-upstream": 401, "0123456789abcdef": 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://127.0.0.1:"+port+"/v1/embeddings", strings.NewReader(`{"model": "m", "input": "x"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := maker.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode != want {
			t.Errorf("%q: status %d", token, res.StatusCode)
		}
	}
	if n := e.times(); n[1] != 1 || e.owner != "Bearer sk-upstream" {
		t.Errorf("requested %v by %q", n, e.owner)
	}
}
