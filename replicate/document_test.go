package replicate

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	stdmultipart "mime/multipart"
	"testing"

	"couchgauge/gen"

	"github.com/google/go-cmp/cmp"
)

// made is a shape for tests.
func made(t testing.TB, change func(*shape)) shape {
	t.Helper()
	template, err := gen.DocTemplate(300)
	if err != nil {
		t.Fatal(err)
	}
	s := shape{docs: 10, template: template, revs: 1, conflicts: 1, seed: 5}
	if change != nil {
		change(&s)
	}
	return s
}

func TestDocuments(t *testing.T) {
	type written struct {
		ID        string `json:"_id"`
		Rev       string `json:"_rev"`
		Deleted   bool   `json:"_deleted"`
		Rank      *int64 `json:"rank"`
		Revisions struct {
			Start int
			IDs   []string
		} `json:"_revisions"`
		Attachments map[string]struct {
			Data    []byte
			Stub    bool
			Follows bool
			Length  int64
		} `json:"_attachments"`
		Text string `json:"text"`
	}
	read := func(b []byte) (d written) {
		t.Helper()
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		return d
	}
	t.Run("plain", func(t *testing.T) {
		s := made(t, nil)
		d := read(s.appendInline(nil, leaf{n: 3}))
		if d.ID != "doc-0000000003" || d.Revisions.Start != 1 || len(d.Revisions.IDs) != 1 || d.Rank != nil || d.Text == "" {
			t.Errorf("%+v", d)
		}
		// What gen docs writes is what is replicated.
		same := gen.Documents{Seed: s.seed, Template: s.template}.Append(nil, 3)
		var fields, wanted map[string]any
		if json.Unmarshal(same, &wanted) != nil || json.Unmarshal(s.appendInline(nil, leaf{n: 3}), &fields) != nil {
			t.Fatal("no JSON")
		}
		delete(fields, "_revisions")
		if diff := cmp.Diff(wanted, fields); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("history", func(t *testing.T) {
		s := made(t, func(s *shape) { s.revs, s.conflicts = 4, 3 })
		a, b := read(s.appendInline(nil, leaf{n: 1})), read(s.appendInline(nil, leaf{n: 1, branch: 2}))
		if a.Revisions.Start != 4 || len(a.Revisions.IDs) != 4 || a.Revisions.IDs[0] == b.Revisions.IDs[0] {
			t.Errorf("leaves %v and %v", a.Revisions, b.Revisions)
		}
		if diff := cmp.Diff(a.Revisions.IDs[1:], b.Revisions.IDs[1:]); diff != "" {
			t.Errorf("branches have no common history: %s", diff)
		}
		if a.Text == b.Text {
			t.Error("two leaves have one body")
		}
	})
	t.Run("deleted", func(t *testing.T) {
		s := made(t, func(s *shape) { s.deleted, s.ranked = 0.5, true })
		n := 0
		for i := range s.docs {
			d := read(s.appendInline(nil, leaf{n: i}))
			if d.Deleted {
				n++
				if d.Text != "" || d.Revisions.Start != 2 || d.Rank == nil {
					t.Errorf("%+v", d)
				}
			}
		}
		if n != 5 || s.live() != 5 {
			t.Errorf("%d of 10 are deleted, %d live", n, s.live())
		}
	})
	t.Run("attachments", func(t *testing.T) {
		s := made(t, func(s *shape) {
			s.count, s.conflicts = 12, 2
			s.attachment = gen.Attachment{Content: gen.Random, Seed: 5, Size: 1000}
		})
		seen := map[string]bool{}
		for _, l := range []leaf{{n: 0}, {n: 0, branch: 1}, {n: 1}} {
			d := read(s.appendInline(nil, l))
			for i := range s.count {
				data := d.Attachments[gen.AttachmentName(i)].Data
				want, _ := io.ReadAll(s.attachmentOf(l, i).Open())
				if !bytes.Equal(data, want) || len(want) != 1000 || seen[string(data)] {
					t.Errorf("attachment %d of %+v: %d bytes, repeated %v", i, l, len(data), seen[string(data)])
				}
				seen[string(data)] = true
			}
		}
		old, up := read(s.appendInline(nil, leaf{})), read(s.appendUpdate(nil, leaf{update: 1}, stored{"1-x", json.RawMessage(`{"attachment-0.bin":{"stub":true}}`)}))
		if !up.Attachments[gen.AttachmentName(0)].Stub || up.Rev != "1-x" || up.Revisions.IDs != nil || up.Text == old.Text {
			t.Errorf("%+v", up)
		}
	})
	t.Run("multipart", func(t *testing.T) {
		s := made(t, func(s *shape) {
			s.count = 3
			s.attachment = gen.Attachment{Content: gen.Text, Seed: 5, Size: 2000}
		})
		m := multipart{document: s.appendFollows(nil, leaf{n: 2})}
		for i := range s.count {
			m.attachments = append(m.attachments, s.attachmentOf(leaf{n: 2}, i))
		}
		body, err := io.ReadAll(m.open())
		if err != nil || int64(len(body)) != m.length() {
			t.Fatalf("%d bytes of %d: %v", len(body), m.length(), err)
		}
		_, params, err := mime.ParseMediaType(m.contentType())
		if err != nil {
			t.Fatal(err)
		}
		parts := stdmultipart.NewReader(bytes.NewReader(body), params["boundary"])
		for i := range 4 {
			part, err := parts.NextRawPart()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(part)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				if d := read(content); d.Attachments[gen.AttachmentName(2)].Length != 2000 || !d.Attachments[gen.AttachmentName(2)].Follows {
					t.Errorf("%+v", d)
				}
				continue
			}
			if want, _ := io.ReadAll(m.attachments[i-1].Open()); !bytes.Equal(content, want) {
				t.Errorf("part %d differs", i)
			}
		}
		if _, err := parts.NextRawPart(); err != io.EOF {
			t.Errorf("after the last part: %v", err)
		}
	})
	t.Run("live", func(t *testing.T) {
		for _, size := range []int64{gen.MinDocument, 300} {
			template, err := gen.DocTemplate(size)
			if err != nil {
				t.Fatal(err)
			}
			for _, ranked := range []bool{false, true} {
				s := made(t, func(s *shape) { s.template, s.ranked = template, ranked })
				if d := read(s.appendLive(nil, 1, 7)); d.ID != "" || ranked != (d.Rank != nil) {
					t.Errorf("%+v", d)
				}
			}
		}
		empty, err := gen.ParseTemplate([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		for _, ranked := range []bool{false, true} {
			s := made(t, func(s *shape) { s.template, s.ranked = empty, ranked })
			read(s.appendLive(nil, 1, 7))
			read(s.appendInline(nil, leaf{n: 1}))
		}
	})
}
