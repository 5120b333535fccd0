package lazy_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/lazy"
)

// TestMain also runs the processes of these tests.
func TestMain(m *testing.M) {
	switch os.Getenv("LAZY_TEST_PROCESS") {
	case "many":
		process(many)
	case "stuck":
		process(stuck)
	}
	os.Exit(m.Run())
}

func process(f func(ctx context.Context, l *larder.Larder) error) {
	l, err := larder.Open(larder.Options{Dir: os.Getenv("LAZY_TEST_DIR")})
	if err == nil {
		err = f(context.Background(), l)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// logged records its execution in a file that all processes share.
var logged = lazy.Func1("logged", func(_ context.Context, x int) (int, error) {
	f, err := os.OpenFile(filepath.Join(os.Getenv("LAZY_TEST_DIR"), "..", "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, x)
	return x * x, err
}, lazy.Options{Version: "1"})

func many(ctx context.Context, l *larder.Larder) error {
	all := make([]lazy.Value[int], 200)
	for i := range all {
		all[i] = logged(lazy.Of(i))
	}
	got, err := lazy.Slice(all...).Get(ctx, l)
	for i, v := range got {
		if v != i*i {
			return fmt.Errorf("%d squared is %d", i, v)
		}
	}
	return err
}

// stuck never returns unless another process has finished it before.
func stuck(ctx context.Context, l *larder.Larder) error {
	f := lazy.Func1("stuck", func(context.Context, int) (int, error) {
		dir := os.Getenv("LAZY_TEST_DIR")
		if _, err := os.Stat(filepath.Join(dir, "..", "killed")); err == nil {
			return 42, nil
		}
		fmt.Fprintln(os.Stdout, "computing")
		select {}
	}, lazy.Options{Version: "1"})
	v, err := f(lazy.Of(1)).Get(ctx, l)
	fmt.Fprintln(os.Stdout, "value", v)
	return err
}

func start(t *testing.T, what, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe)
	c.Env = append(os.Environ(), "LAZY_TEST_PROCESS="+what, "LAZY_TEST_DIR="+dir)
	c.Stderr = os.Stderr
	return c
}

func TestEightProcessesComputeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var all []*exec.Cmd
	for range 8 {
		c := start(t, "many", dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	log, err := os.ReadFile(filepath.Join(dir, "..", "log"))
	if n := strings.Count(string(log), "\n"); err != nil || n != 200 {
		t.Errorf("%d executions of 200 keys by 8 processes, %v", n, err)
	}
}

func TestKilledOwnerIsTakenOver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	owner := start(t, "stuck", dir)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "computing\n" {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	waiting := start(t, "stuck", dir)
	var output strings.Builder
	waiting.Stdout = &output
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "..", "killed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // it was killed
	if err := waiting.Wait(); err != nil || output.String() != "value 42\n" {
		t.Errorf("the one that took over said %q, %v", output.String(), err)
	}
}
