package tables

var tax int

var order []string

func init() {
	tax = rate() * 2
	p := prices
	p["pear"] = 5
	double(first)
}

func rate() int { return 1 }

func double(row []int) {
	for i := range row {
		row[i] = 2 * i
	}
}

func init() { current().depth = 3 }
