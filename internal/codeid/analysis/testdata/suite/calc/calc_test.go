package calc

import "testing"

func TestAdd(t *testing.T) {
	if add(1, 2) != 5 {
		t.Fatal("1 + 2·2 is not 5")
	}
}

func rescue2() string { return "only in tests" }
