package replicate

import (
	"context"
	"fmt"
	"strings"
)

// verdict is what verification found at one target.
type verdict struct {
	Database string `json:"database"`
	leafDiff
	Attachments attachmentDiff `json:"attachments"`
}

// fault says in one sentence what is wrong; "" = nothing.
func (v verdict) fault() string {
	var faults []string
	if v.Missing.Count > 0 {
		faults = append(faults, fmt.Sprintf("%d of %d leaf revisions are missing: %v", v.Missing.Count, v.Leaves, v.Missing))
	}
	if v.Extra.Count > 0 {
		faults = append(faults, fmt.Sprintf("%d leaf revisions should not be there: %v", v.Extra.Count, v.Extra))
	}
	if d := v.Attachments.Differ; d.Count > 0 {
		faults = append(faults, fmt.Sprintf("%d attachments differ: %v", d.Count, d))
	}
	if len(faults) == 0 {
		return ""
	}
	return v.Database + ": " + strings.Join(faults, "; ")
}

// expectation is what one target must hold: the leaves that its jobs carry.
type expectation struct {
	from leafSet // one per job, or one of a job whose target has documents of its own
	to   leafFeed
}

// expectations says what the sample's targets must hold. A target that was
// empty holds what its jobs carried and nothing else. Of one that had
// documents of its own, what each job carried is compared with what the target
// has of that kind.
func (x *sample) expectations() []expectation {
	var list []expectation
	for _, t := range x.layout.targets() {
		var all expectation
		for i, e := range x.layout.edges {
			if e.to != t {
				continue
			}
			from := x.carried(x.databases[e.from], i)
			if x.layout.databases[t].filled {
				list = append(list, expectation{from: leafSet{from}, to: x.carried(x.databases[t], i)})
				continue
			}
			all.from = append(all.from, from)
		}
		if len(all.from) == 0 {
			continue
		}
		d := x.databases[t]
		all.to = leafFeed{client: d.peer.Server.Control(), db: d.db}
		if len(all.from) > 1 { // design documents of all sources have the same id
			all.to.noDesign = true
			for i := range all.from {
				all.from[i].noDesign = true
			}
		}
		list = append(list, all)
	}
	return list
}

// carried is what job i carries of the documents that are in a database.
func (x *sample) carried(d endpoint, i int) leafFeed {
	f := leafFeed{
		client:    d.peer.Server.Control(),
		db:        d.db,
		filtering: x.filter.filtering(x.sourceNumber(x.layout.edges[i].from), x.shape.docs),
	}
	for _, s := range x.set {
		switch s.name {
		case "winning_revs_only":
			f.winners = s.Value == true && x.honoured(x.cell, s.name, i)
		case "since_seq":
			f.since = s.Text
		}
	}
	return f
}

// verify compares every target with what its jobs should have brought.
func (x *sample) verify(ctx context.Context) ([]verdict, error) {
	var list []verdict
	for _, want := range x.expectations() {
		diff, err := compareLeaves(ctx, want.from, leafSet{want.to})
		if err != nil {
			return list, err
		}
		v := verdict{Database: want.to.db, leafDiff: diff}
		if x.shape.count > 0 {
			for _, from := range want.from {
				check := attachmentCheck{
					source: from.client, from: from.db,
					target: want.to.client, to: want.to.db,
					bytes: x.plan.Verify == VerifyBytes,
				}
				part, err := check.run(ctx, from)
				if err != nil {
					return list, err
				}
				v.Attachments.Compared += part.Compared
				v.Attachments.Differ.Count += part.Differ.Count
				v.Attachments.Differ.Named = append(v.Attachments.Differ.Named, part.Differ.Named...)
			}
		}
		list = append(list, v)
	}
	return list, nil
}
