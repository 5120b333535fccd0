package mountns_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/mountns"
)

func TestMain(m *testing.M) {
	mountns.Enter()
	os.Exit(m.Run())
}

// holder makes a test mount something and wait to be killed.
const holder = "LARDER_TEST_HOLD_MOUNT"

// TestHold runs in TestNothingStaysMounted, as a test that is killed.
func TestHold(t *testing.T) {
	dir := os.Getenv(holder)
	if dir == "" {
		t.Skip("only with " + holder + ", for another test")
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "tmpfs", dir).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stdout, "cannot mount: %v: %s\n", err, out)
		return
	}
	fmt.Fprintln(os.Stdout, "mounted")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
}

// TestNothingStaysMounted checks that mounts of tests are invisible to other processes and
// disappear when the tests are killed.
func TestNothingStaysMounted(t *testing.T) {
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHold$")
	c.Env = append(os.Environ(), holder+"="+dir, "LARDER_TEST_OWN_MOUNTS=")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	mounted := func() bool {
		b, err := os.ReadFile("/proc/self/mountinfo")
		return err == nil && strings.Contains(string(b), filepath.Base(filepath.Dir(dir)))
	}
	if seen := mounted(); seen {
		t.Error("what a test mounts is seen here")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if line != "mounted\n" {
		t.Skipf("this test needs the right to mount (run it as root): %s", line)
	}
	if mounted() {
		t.Error("what a killed test mounted stays")
	}
	if err := os.Remove(dir); err != nil { // a mount point would be busy
		t.Error(err)
	}
}
