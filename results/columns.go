package results

import (
	"math"
	"slices"
	"time"
)

// Column is one figure of a row, in every format.
type Column struct {
	Name    string
	Unit    string
	From    Source
	Command string // which command's rows have it; "" = all
	Doc     string
}

// Source is how a column's figure is made of a cell's samples.
type Source struct {
	Doc string
	get func(r *Row, name string) any
}

// The commands that have columns of their own.
const (
	upload    = "upload"
	replicate = "replicate"
	count     = "count"
)

// settings stands in the list where columns go that are not in it: one for
// each further factor.
const settings = "*"

var columns = []Column{
	{"server", "URL", fromRun(func(r *Row) any { return text(r.Server) }), "", "the server, without credentials"},
	{"samples", "1", fromRun(func(r *Row) any { return float64(r.Samples) }), "", "samples taken, failed ones included, warm-ups not"},
	{"failed", "1", fromRun(func(r *Row) any { return float64(r.Failed) }), "", "samples that failed; they never count as times"},
	{"first_error", "text", fromRun(func(r *Row) any { return text(r.FirstError) }), "", "why the first of them failed, or why the combination is not possible"},
	{"median_s", "s", fromTimes(func(r *Row) float64 { return r.Median }), "", "median: the middle time, or the mean of the two middle ones"},
	{"ci_low_s", "s", fromTimes(func(r *Row) float64 { return r.CILow }), "", "lower end of the median's 95 % interval, from order statistics; none below 6 samples"},
	{"ci_high_s", "s", fromTimes(func(r *Row) float64 { return r.CIHigh }), "", "upper end of it"},
	{"min_s", "s", fromTimes(func(r *Row) float64 { return r.Min }), "", "fastest sample"},
	{"max_s", "s", fromTimes(func(r *Row) float64 { return r.Max }), "", "slowest sample"},
	{"p95_s", "s", fromTimes(func(r *Row) float64 { return r.P95 }), "", "95th percentile by nearest rank: a time that was measured; the slowest below 20 samples"},
	{"relative", "ratio", fromTimes(func(r *Row) float64 { return r.Relative }), "", "median divided by the baseline's median"},
	{"relative_low", "ratio", fromTimes(func(r *Row) float64 { return r.RelativeLow }), "", "lower end of its 95 % interval; none below 4 samples each; a difference is noise if the interval holds 1"},
	{"relative_high", "ratio", fromTimes(func(r *Row) float64 { return r.RelativeHigh }), "", "upper end of it"},
	{"verified", "1", fromRun(func(r *Row) any { return float64(r.Verified) }), "", "samples of which what the server stored was compared, and right"},

	{"method", "text", fromLevel, upload, "upload method"},
	{"size_bytes", "B", fromLevel, upload, "size of one attachment"},
	{"attachments", "1", fromLevel, upload, "attachments per document"},
	{"content", "text", fromLevel, upload, "what is in them: random, text, zeros"},
	{"concurrency", "1", fromLevel, upload, "uploads started together; a time lasts until the last of them ends"},
	{"expect", "text", fromLevel, upload, "whether Expect: 100-continue is sent"},
	{"transfer", "text", fromLevel, upload, "length: Content-Length; chunked: chunked transfer encoding"},
	{"encoding", "text", fromLevel, upload, "Content-Encoding of the request"},
	{"throughput_bytes_per_s", "B/s", fromTimes(throughput), upload, "payload of a sample divided by the median"},
	{"wire_bytes", "B", fromMedian, upload, "bytes of HTTP written for a sample, heads and bodies"},
	{"connect_s", "s", fromMiddle, upload, "phase: resolve, connect, TLS"},
	{"wait_continue_s", "s", fromMiddle, upload, "phase: from the request's head until 100 Continue, or until waiting for it was given up"},
	{"produce_s", "s", fromMiddle, upload, "phase: inside our own body reader, generating and encoding: the client's cost"},
	{"send_s", "s", fromMiddle, upload, "phase: the rest of the time until the body was written"},
	{"wait_s", "s", fromMiddle, upload, "phase: from there until the first byte of the answer"},
	{"receive_s", "s", fromMiddle, upload, "phase: from there until the answer was read"},
	{"accepted_202", "1", fromSum, upload, "answers 202 instead of 201: the write quorum was not met"},
	{"content_type", "text", fromLevel, upload, "content type of the attachments"},
	{"keep_alive", "text", fromLevel, upload, "whether connections are used again"},
	{"new_edits", "text", fromLevel, upload, "whether the server makes the revision"},
	{"docs", "text", fromLevel, upload, "new: the upload creates its document; existing: it was there before"},
	{"ordinal", "1", fromLevel, upload, "which of the attachments added one after another to one document"},
	{"retries_429", "1", fromSum, upload, "answers 429 that were waited out"},
	{"waited_429_s", "s", fromSum, upload, "how long was waited for that, outside the times"},
	{"encode_s", "s", fromMedian, upload, "the client's own cost of base64-encoding the attachment, measured apart"},
	{"decode_s", "s", fromMedian, upload, "the same for decoding"},

	{"driver", "text", fromLevel, replicate, "what replicates: replicate, replicator, couchgauge; fill is the filling of the sources, which is compared with nothing"},
	{"topology", "text", fromLevel, replicate, "which databases replicate to which"},
	{"docs", "1", fromLevel, replicate, "documents at the source"},
	{"doc_bytes", "B", fromLevel, replicate, "size of one document's JSON"},
	{settings, "", fromLevel, "", "one column for each further factor, such as a varied setting"},
	{"startup_s", "s", fromMiddle, replicate, "from submitting the job to the first write seen at the target"},
	{"docs_per_s", "1/s", fromMiddle, replicate, "documents that arrived at the target per second"},
	{"bytes_per_s", "B/s", fromMiddle, replicate, "bytes of documents and attachments that arrived per second"},
	{"doc_write_failures", "1", fromSum, replicate, "documents that the target refused"},
	{"bulk_get_attempts", "1", fromMedian, replicate, "_bulk_get requests that the replicator tried"},
	{"bulk_get_docs", "1", fromMedian, replicate, "documents that came through _bulk_get"},
	{"transfer_s", "s", fromMiddle, replicate, "from the first write seen at the target until the last job was done"},
	{"docs_read", "1", fromMedian, replicate, "documents read, as the job counts them"},
	{"docs_written", "1", fromMedian, replicate, "documents written, as the job counts them"},
	{"revisions_checked", "1", fromMedian, replicate, "revisions that the target was asked for"},
	{"missing_found", "1", fromMedian, replicate, "of them, those that it lacked"},
	{"docs_per_bulk_docs", "1", fromMedian, replicate, "documents in one _bulk_docs request, as the target received them"},
	{"target_growth_bytes", "B", fromMedian, replicate, "how much the target's file grew"},
	{"restarts", "1", fromSum, replicate, "how often the server started a job again"},
	{"lag_p50_s", "s", fromHighest, replicate, "continuous: from the planned time of a write to its arrival at the target, 50th percentile"},
	{"lag_p90_s", "s", fromHighest, replicate, "the same, 90th percentile"},
	{"lag_p99_s", "s", fromHighest, replicate, "the same, 99th percentile"},
	{"lag_max_s", "s", fromHighest, replicate, "the same, longest"},
	{"write_p50_s", "s", fromHighest, replicate, "continuous: from the planned time of a write until the source had it, 50th percentile"},
	{"write_p90_s", "s", fromHighest, replicate, "the same, 90th percentile"},
	{"write_p99_s", "s", fromHighest, replicate, "the same, 99th percentile"},
	{"write_max_s", "s", fromHighest, replicate, "the same, longest"},
	{"changes_s", "s", fromMiddle, replicate, "stage of couchgauge's replicator: reading _changes; all its workers together"},
	{"changes_wait_in_s", "s", fromMiddle, replicate, "that stage waiting for something to do"},
	{"changes_wait_out_s", "s", fromMiddle, replicate, "that stage waiting for the next one to take its work"},
	{"diff_s", "s", fromMiddle, replicate, "stage: asking the target what it lacks"},
	{"diff_wait_in_s", "s", fromMiddle, replicate, "waiting for something to do"},
	{"diff_wait_out_s", "s", fromMiddle, replicate, "waiting for the next stage"},
	{"read_s", "s", fromMiddle, replicate, "stage: reading documents from the source"},
	{"read_wait_in_s", "s", fromMiddle, replicate, "waiting for something to do"},
	{"read_wait_out_s", "s", fromMiddle, replicate, "waiting for the next stage: the target is the slow side"},
	{"write_s", "s", fromMiddle, replicate, "stage: writing documents to the target"},
	{"write_wait_in_s", "s", fromMiddle, replicate, "waiting for something to do, all workers together"},
	{"write_wait_out_s", "s", fromMiddle, replicate, "waiting for the checkpoint"},

	{"way", "text", fromLevel, count, "how is counted"},
	{"matches", "1", fromLevel, count, "documents that match"},
	{"counted", "1", fromMedian, count, "the number that the server returned"},
	{"growth", "ratio", fromTimes(func(r *Row) float64 { return r.Growth }), count, "growth of the median from the next smaller number of matches; 0.5 is 50 %"},

	// Last, because the order of the others is fixed: what rows of several
	// runs in one table are told apart by.
	{"run", "text", fromRun(func(r *Row) any { return text(r.run.ID) }), "", "the run's id"},
	{"started", "time", fromRun(func(r *Row) any { return text(r.run.Started.UTC().Format(time.RFC3339)) }), "", "when the run started, in UTC"},
	{"couchgauge", "text", fromRun(func(r *Row) any { return text(r.run.Version) }), "", "version of couchgauge"},
}

var (
	fromLevel = Source{"level", func(r *Row, name string) any {
		l, ok := r.Level(name)
		if !ok {
			return nil
		}
		return number(l.Value)
	}}
	fromMiddle = Source{"of the median sample, or the mean of the two middle ones", func(r *Row, name string) any {
		return defined(r.data.series.middle(r.sorted, name))
	}}
	fromMedian = Source{"median of the samples", func(r *Row, name string) any {
		return defined(r.data.series.median(name))
	}}
	// Percentiles of several samples are never averaged.
	fromHighest = Source{"highest of the samples", func(r *Row, name string) any {
		return defined(r.data.series.highest(name))
	}}
	fromSum = Source{"sum over the samples", func(r *Row, name string) any {
		v, ok := r.data.sums[name]
		if !ok {
			return nil
		}
		return v
	}}
)

func fromRun(get func(*Row) any) Source {
	return Source{"of the cell", func(r *Row, _ string) any { return get(r) }}
}

func fromTimes(get func(*Row) float64) Source {
	return Source{"over the samples that succeeded", func(r *Row, _ string) any { return defined(get(r)) }}
}

// Columns lists the columns of a command's rows in order. One named "*"
// stands for those of further factors.
func Columns(command string) []Column {
	return slices.DeleteFunc(slices.Clone(columns), func(c Column) bool {
		return c.Command != "" && c.Command != command
	})
}

// columnsFor lists the columns of a run: its command's, with those for
// further factors in their place.
func columnsFor(command string, cells []*cellData) []Column {
	list := Columns(command)
	at := slices.IndexFunc(list, func(c Column) bool { return c.Name == settings })
	further := list[at]
	list = slices.Delete(list, at, at+1)
	for _, d := range cells {
		for _, l := range d.cell.Levels {
			if slices.ContainsFunc(list, func(c Column) bool { return c.Name == l.Factor }) {
				continue
			}
			further.Name = l.Factor
			list = slices.Insert(list, at, further)
			at++
		}
	}
	return list
}

func (c Column) value(r *Row) any { return c.From.get(r, c.Name) }

func throughput(r *Row) float64 {
	if r.Cell.Payload == 0 || !(r.Median > 0) {
		return math.NaN()
	}
	return float64(r.Cell.Payload) / r.Median
}

// text returns nil for what is not there.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// defined returns nil for what is not a number.
func defined(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// number returns a level's value with every kind of number as float64, as it
// is when read from a recording.
func number(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	}
	return v
}
