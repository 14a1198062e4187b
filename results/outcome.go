package results

// Outcome counts the samples of a run, warm-ups left out.
type Outcome struct {
	Samples  int
	Failed   int // what did not end well, or was not right at the server
	Verified int
}

// Add counts a sample.
func (o *Outcome) Add(s *Sample) {
	if s.Warmup {
		return
	}
	o.Samples++
	if s.Error != "" {
		o.Failed++
	}
	if s.Verified {
		o.Verified++
	}
}
