package python

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/larder-data/larder/internal/proc/process"
)

// TestUnsent checks that a task that could not be sent leaves its worker unchanged, and
// that its log ends.
func TestUnsent(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.CommandContext(t.Context(), python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run() != nil {
		t.Skip("there is no Python 3.11 or newer on this machine")
	}
	src, err := filepath.Abs("../../../python/src")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", src)
	owner := new(int)
	pool, err := Open(t.Context(), Setup{
		Interpreter: python, Dir: t.TempDir(), Path: []string{}, Function: "os:getpid", Version: "1",
		Items: []string{}, Into: []string{"pid"}, Args: json.RawMessage("{}"), Files: map[string]string{}, Logs: true, Shared: true,
	}, 1, owner)
	if err != nil {
		t.Fatal(err)
	}
	defer CloseOf(owner)
	var answer []byte
	whole := errors.New("cannot be read")
	task := func(fill error) error {
		return Do(t.Context(), pool.Number(), &Task{
			Bytes: 8, Most: 1 << 20, Log: new(bytes.Buffer),
			Fill:   func(to []byte) error { copy(to, []byte{1, 0, 0, 0, 0, 0, 0, 0}); return fill },
			Answer: func(m []byte) error { answer = bytes.Clone(m); return nil },
		})
	}
	if err := task(nil); err != nil {
		t.Fatal(err)
	}
	pid := answer
	if err := task(whole); !errors.Is(err, whole) {
		t.Errorf("%v", err)
	}
	if err := task(nil); err != nil || !bytes.Equal(answer, pid) {
		t.Errorf("another worker: %q, before %q; %v", answer, pid, err)
	}
}

// TestWhatAKilledProgramLeft checks that processes in their own sessions, which outlive a
// killed program, are ended by the next one.
func TestWhatAKilledProgramLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("whose processes are is not known on this system")
	}
	ended := exec.CommandContext(t.Context(), "true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	left := func(of int) (end func() error) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "cat") // echoes its input when it has started
		c.Env = append(os.Environ(), markName+"="+strconv.Itoa(of)+".1f")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, "up\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		return func() error { return errors.Join(in.Close(), c.Wait()) }
	}
	orphan, own := left(ended.ProcessState.Pid()), left(os.Getpid())
	process.EndLeft(markName)
	if err := orphan(); err == nil {
		t.Error("a process of a program that has ended was left")
	}
	if err := own(); err != nil {
		t.Errorf("a process of this program was ended: %v", err)
	}
}
