package refserver

import (
	"fmt"
	"strings"
)

// related is a multipart/related body: the document, then its parts.
func related(doc string, parts ...string) string {
	b := "--BB\r\nContent-Type: application/json\r\n\r\n" + doc
	for _, p := range parts {
		b += "\r\n--BB\r\nContent-Disposition: attachment; filename=\"x\"\r\nContent-Type: application/octet-stream\r\n\r\n" + p
	}
	return b + "\r\n--BB--"
}

// follows is the member of an attachment that follows.
func follows(name string, length int, more string) string {
	return fmt.Sprintf(`"%s":{"follows":true,"length":%d%s}`, name, length, more)
}

// formBody is a multipart/form-data body of fields, each name, file name ("" for none),
// content type, value.
func formBody(fields ...[4]string) string {
	b := ""
	for _, f := range fields {
		b += "--FF\r\nContent-Disposition: form-data; name=\"" + f[0] + "\""
		if f[1] != "" {
			b += "; filename=\"" + f[1] + "\"\r\nContent-Type: " + f[2]
		}
		b += "\r\n\r\n" + f[3] + "\r\n"
	}
	return b + "--FF--\r\n"
}

func bodyConversations() []conversation {
	rel := map[string]string{"Content-Type": `multipart/related;boundary="BB"`}
	put := func(id, body string, status int, want string) step {
		return step{do: "PUT /DB/" + id, headers: rel, body: body, status: status, want: want}
	}
	form := map[string]string{"Content-Type": "multipart/form-data; boundary=FF", "Referer": "http://HOST/x"}
	gz := gzipText("hello")
	return []conversation{
		{"multipart", []step{
			{do: "PUT /DB/m", headers: rel, body: related(`{"a":1,"_attachments":{`+follows("z", 3, "")+`,`+follows("a", 2, `,"content_type":"text/plain"`)+`}}`, "abc", "xy"),
				status: 201, save: "m1", want: `{"id":"m","rev":"1-*"}`, header: map[string]string{"Location": "http://HOST/DB/m", "ETag": `"{m1}"`}},
			{do: "GET /DB/m/z", status: 200, text: "abc"}, {do: "GET /DB/m/a", status: 200, text: "xy"},
			put("m", related(`{"_rev":"{m1}","_attachments":{"z":{"stub":true},`+follows("n", 5, "")+`}}`, "12\r\n5"), 201, ""),
			{do: "GET /DB/m", status: 200, want: `{"_attachments":{"=":0,"z":{"revpos":1},"n":{"revpos":2,"length":5}}}`},
			put("short", related(`{"_attachments":{`+follows("z", 4, "")+`}}`, "abc"), 400, `{"reason":"attachment shorter than expected"}`),
			put("long", related(`{"_attachments":{`+follows("z", 2, "")+`}}`, "abc"), 400, `{"reason":"attachment longer than expected"}`),
			put("missing", related(`{"_attachments":{`+follows("z", 3, "")+`,`+follows("y", 3, "")+`}}`, "abc"), 400, `{"reason":"attachment shorter than expected"}`),
			put("surplus", related(`{"_attachments":{`+follows("z", 3, "")+`}}`, "abc", "def"), 201, ""),
			put("empty", related(`{"_attachments":{`+follows("z", 0, "")+`}}`, ""), 201, ""),
			put("bad", related(`{bad`), 400, `{"error":"bad_request"}`), put("bad", related(`{"_foo":1,"_attachments":{`+follows("z", 3, "")+`}}`, "abc"), 400, `{"error":"doc_validation"}`),
			put("preamble", "preamble\r\n"+related(`{"_attachments":{`+follows("z", 3, "")+`}}`, "abc")+"\r\nepilogue", 201, ""),
			put("mixed", related(`{"_attachments":{"z":{"data":"QUJD"},`+follows("y", 3, "")+`}}`, "abc"), 201, ""), {do: "GET /DB/mixed/z", status: 200, text: "ABC"},
			put("digest", related(`{"_attachments":{`+follows("z", 3, `,"digest":"md5-kAFQmDzST7DWlj99KOF/cg=="`)+`}}`, "abc"), 201, ""),
			put("digest2", related(`{"_attachments":{`+follows("z", 3, `,"digest":"md5-kAFQmDzST7DWlj99KOF/cg=="`)+`}}`, "abd"), 500, `{"error":"unknown_error"}`),
			put("gz?new_edits=false", related(`{"_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"_attachments":{`+
				follows("z", 5, fmt.Sprintf(`,"content_type":"text/plain","encoding":"gzip","encoded_length":%d,"revpos":1`, len(gz)))+`}}`, gz), 201, `{"rev":"2-b"}`),
			{do: "GET /DB/gz?att_encoding_info=true", status: 200, want: fmt.Sprintf(`{"_attachments":{"z":{"revpos":1,"length":5,"encoding":"gzip","encoded_length":%d}}}`, len(gz))},
			{do: "GET /DB/gz/z", status: 200, text: "hello"},
			put("m", related(`{"_attachments":{`+follows("z", 3, "")+`}}`, "abc"), 409, ""),
			{do: "GET /DB", status: 200, want: `{"doc_count":7}`},
		}},
		{"multipart out", []step{
			{do: "PUT /DB/o", body: `{"_attachments":{"z.txt":{"content_type":"text/plain","data":"aGVsbG8="},"a.bin":{"data":"AAEC"}}}`, status: 201, save: "o1"},
			{do: "GET /DB/o?attachments=true", status: 200, header: map[string]string{"ETag": `"{o1}"`}},
			{do: "GET /DB/o?attachments=true", headers: acceptJSON, status: 200, want: `{"_attachments":{"z.txt":{"data":"aGVsbG8="}}}`},
			{do: `GET /DB/o?atts_since=["{o1}"]`, headers: map[string]string{"Accept": "multipart/related"}, status: 200},
		}},
		{"form", []step{
			{do: "POST /DB/f", headers: form, body: formBody([4]string{"_doc", "", "", `{"a":1}`}, [4]string{"_attachments", "a.txt", "text/plain", "hello"},
				[4]string{"_attachments", "b.bin", "application/octet-stream", "\x00\x01"}), status: 201, save: "f1", want: `{"=":0,"ok":true,"id":"f","rev":"1-*"}`, header: map[string]string{"ETag": `"{f1}"`}},
			{do: "GET /DB/f?att_encoding_info=true", status: 200, want: `{"a":1,"_attachments":{"a.txt":{"encoding":"gzip","length":5},"b.bin":{"length":2}}}`},
			{do: "POST /DB/f", headers: form, body: formBody([4]string{"_attachments", "b.bin", "text/plain", "other"}, [4]string{"_rev", "", "", "{f1}"}), status: 201},
			{do: "GET /DB/f", status: 200, want: `{"a":1,"_attachments":{"b.bin":{"revpos":2,"length":5},"a.txt":{"revpos":1}}}`}, {do: "GET /DB/f/b.bin", status: 200, text: "other"},
			{do: "POST /DB/f", headers: form, body: formBody([4]string{"_doc", "", "", `{}`}), status: 409}, {do: "POST /DB/f", headers: form, body: formBody([4]string{"_doc", "", "", `{`}), status: 400},
			{do: "POST /DB/g", headers: map[string]string{"Content-Type": form["Content-Type"]}, body: formBody(), status: 400, want: `{"reason":"Referer header required."}`},
			{do: "POST /DB/g", headers: map[string]string{"Content-Type": form["Content-Type"], "Referer": "http://other/"}, body: formBody(), status: 400, want: `{"reason":"Referer header must match host."}`},
			{do: "POST /DB/g", headers: map[string]string{"Referer": "http://HOST/"}, body: "{}", status: 415, want: `{"reason":"Content-Type must be multipart/form-data"}`},
			{do: "POST /DB/g", headers: form, body: formBody([4]string{"_attachments", "_a", "text/plain", "x"}, [4]string{"_doc", "", "", "{}"}), status: 400},
		}},
	}
}

var bulkConversations = []conversation{
	{"bulk", []step{
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"b1"},{"_id":"b1"},{"x":1},{"_id":"b3","_deleted":true},{"_id":"_local/l","q":1},{"_id":"b4","_attachments":{"a":{"data":"QUJD"}}}]}`, status: 201,
			want: `[{"=":0,"ok":true,"id":"b1","rev":"1-*"},{"=":0,"id":"b1","error":"conflict","reason":"Document update conflict."},{"ok":true,"id":"~^[0-9a-f]{32}$"},{"ok":true},{"id":"_local/l","rev":"0-1"},{"ok":true}]`},
		{do: "GET /DB/b4/a", status: 200, text: "ABC"}, {do: "GET /DB/b3", status: 404, want: `{"reason":"deleted"}`},
		{do: "GET /DB", status: 200, want: `{"doc_count":3,"doc_del_count":1}`},
		{do: "POST /DB/_bulk_docs", body: `{}`, status: 400, want: "{\"reason\":\"POST body must include `docs` parameter.\"}"},
		{do: "POST /DB/_bulk_docs", body: `[]`, status: 400, want: `{"reason":"Request body must be a JSON object"}`},
		{do: "POST /DB/_bulk_docs", body: `{"docs":{}}`, status: 400, want: "{\"reason\":\"`docs` parameter must be an array.\"}"},
		{do: "POST /DB/_bulk_docs", body: `{"docs":[1]}`, status: 400, want: `{"reason":"Document must be a JSON object"}`},
		{do: "POST /DB/_bulk_docs", body: `{"docs":[]}`, status: 201, text: "[]\n"},
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"ok"},{"_id":"_x"}]}`, status: 400, want: `{"error":"illegal_docid"}`}, {do: "GET /DB/ok", status: 404},
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{}],"new_edits":false}`, status: 400}, {do: "POST /DB/_bulk_docs", body: `{"docs":[`, status: 400, want: `{"reason":"invalid UTF-8 JSON"}`},
		{do: "GET /DB/_bulk_docs", status: 405}, {do: "POST /DB/_bulk_docs", headers: plainText, body: `{"docs":[]}`, status: 415},
		{do: "POST /DB/_bulk_docs", headers: map[string]string{"Content-Encoding": "gzip"}, body: gzipText(`{"docs":[{"_id":"z"}]}`), status: 201, want: `[{"ok":true}]`},
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"new","_rev":"1-a"}]}`, status: 201, want: `[{"ok":true,"rev":"2-*"}]`},
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"att","_rev":"1-a","_attachments":{"a":{"data":""}}}]}`, status: 201, want: `[{"error":"conflict"}]`},
	}},
}

var rowConversations = []conversation{
	{"all documents", []step{
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"a","n":1},{"_id":"b"},{"_id":"c"},{"_id":"d"},{"_id":"x","_deleted":true},{"_id":"B"}]}`, status: 201},
		{do: "GET /DB/_all_docs", status: 200, want: `{"total_rows":5,"offset":0,"rows":[{"id":"B"},{"=":0,"id":"a","key":"a","value":{"=":0,"rev":"1-*"}},{"id":"b"},{"id":"c"},{"id":"d"}]}`},
		{do: `GET /DB/_all_docs?startkey="b"&endkey="c"`, status: 200, want: `{"offset":2,"rows":[{"id":"b"},{"id":"c"}]}`},
		{do: `GET /DB/_all_docs?startkey="b"&endkey="c"&inclusive_end=false`, status: 200, want: `{"rows":[{"id":"b"}]}`},
		{do: `GET /DB/_all_docs?descending=true&startkey="c"&endkey="b"`, status: 200, want: `{"offset":1,"rows":[{"id":"c"},{"id":"b"}]}`},
		{do: `GET /DB/_all_docs?descending=true&startkey="bb"&limit=1`, status: 200, want: `{"offset":2,"rows":[{"id":"b"}]}`},
		{do: "GET /DB/_all_docs?descending=true&limit=1", status: 200, want: `{"rows":[{"id":"d"}]}`},
		{do: "GET /DB/_all_docs?skip=1&limit=2", status: 200, want: `{"offset":1,"rows":[{"id":"a"},{"id":"b"}]}`},
		{do: "GET /DB/_all_docs?limit=0", status: 200, want: `{"total_rows":5,"rows":[]}`}, {do: "GET /DB/_all_docs?skip=100", status: 200, want: `{"offset":5,"rows":[]}`},
		{do: `GET /DB/_all_docs?key="a"&include_docs=true`, status: 200, want: `{"rows":[{"doc":{"_id":"a","n":1}}]}`},
		{do: `GET /DB/_all_docs?keys=["b","none","x","b"]&include_docs=true`, status: 200,
			want: `{"offset":null,"rows":[{"id":"b","doc":{"_id":"b"}},{"=":0,"key":"none","error":"not_found"},{"id":"x","value":{"deleted":true},"doc":null},{"id":"b"}]}`},
		{do: "POST /DB/_all_docs", body: `{"keys":["b"]}`, status: 200, want: `{"rows":[{"id":"b"}]}`}, {do: "POST /DB/_all_docs", body: `{"limit":1}`, status: 200, want: `{"rows":[{"id":"B"}]}`},
		{do: "POST /DB/_all_docs", body: `{"keys":1}`, status: 400, want: "{\"reason\":\"`keys` body member must be an array.\"}"},
		{do: "GET /DB/_all_docs?keys=1", status: 400}, {do: "GET /DB/_all_docs?limit=x", status: 400, want: `{"error":"query_parse_error"}`}, {do: "GET /DB/_all_docs?limit=-1", status: 400},
		{do: "GET /DB/_all_docs?startkey=x", status: 400, want: `{"error":"bad_request","reason":"invalid UTF-8 JSON"}`}, {do: "GET /DB/_all_docs?descending=1", status: 400},
		{do: "GET /DB/_all_docs?update_seq=true&limit=0", status: 200, want: `{"update_seq":"6-*"}`}, {do: "PUT /DB/_all_docs", status: 405},
		{do: "GET /DB/_all_docs?startkey=5&limit=1", status: 200, want: `{"rows":[{"id":"B"}]}`}, {do: "GET /DB/_all_docs?endkey=5", status: 200, want: `{"rows":[]}`},
	}},
	{"design and local documents", []step{
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"_design/a"},{"_id":"_design/b"},{"_id":"x"},{"_id":"_local/l1"},{"_id":"_local/l2"}]}`, status: 201},
		{do: "GET /DB/_design_docs", status: 200, want: `{"total_rows":2,"offset":0,"rows":[{"id":"_design/a"},{"id":"_design/b"}]}`},
		{do: `GET /DB/_design_docs?key="_design/b"`, status: 200, want: `{"offset":1,"rows":[{"id":"_design/b"}]}`}, {do: `GET /DB/_design_docs?startkey="z"`, status: 200, want: `{"offset":2,"rows":[]}`},
		{do: "GET /DB/_design_docs?descending=true&limit=1&include_docs=true", status: 200, want: `{"rows":[{"id":"_design/b","doc":{"_id":"_design/b"}}]}`},
		{do: `GET /DB/_design_docs?keys=["x","_design/a","_local/l1"]`, status: 200, want: `{"total_rows":2,"offset":null,"rows":[{"id":"_design/a"}]}`},
		{do: "GET /DB/_local_docs", status: 200, want: `{"total_rows":null,"offset":null,"rows":[{"=":0,"id":"_local/l1","key":"_local/l1","value":{"rev":"0-1"}},{"id":"_local/l2"}]}`},
		{do: "GET /DB/_local_docs?descending=true&skip=1&include_docs=true", status: 200, want: `{"rows":[{"id":"_local/l1","doc":{"_id":"_local/l1"}}]}`},
		{do: "POST /DB/_local_docs", body: `{"keys":["_local/l1","_local/zz"]}`, status: 200, want: `{"rows":[{"id":"_local/l1"},{"=":0,"key":"_local/zz","error":"not_found"}]}`},
		{do: "PUT /DB/_design_docs", status: 405}, {do: "POST /DB/_view_cleanup", body: "{}", status: 202, want: `{"ok":true}`},
		{do: "GET /DB/_index", status: 200, want: `{"total_rows":1,"indexes":[{"ddoc":null,"name":"_all_docs","type":"special","def":{"fields":[{"_id":"asc"}]}}]}`},
	}},
	{"find", []step{
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"a","n":1,"t":{"a":[1,2]}},{"_id":"b","n":2},{"_id":"c","n":3},{"_id":"_design/x","n":4}]}`, status: 201},
		{do: "POST /DB/_find", body: `{"selector":{"n":{"$gt":1}}}`, status: 200, want: `{"docs":[{"_id":"b"},{"_id":"c"}],"warning":"No matching index found, create an index to optimize query time."}`},
		{do: "POST /DB/_find", body: `{"selector":{"n":{"$gt":0}},"limit":1,"skip":1,"fields":["_id"]}`, status: 200, want: `{"docs":[{"=":0,"_id":"b"}]}`},
		{do: "POST /DB/_find", body: `{"selector":{"n":1},"fields":["t.a"]}`, status: 200, want: `{"docs":[{"=":0,"t":{"a":[1,2]}}]}`},
		{do: "POST /DB/_find", body: `{"selector":{"n":100}}`, status: 200, want: `{"docs":[],"bookmark":"nil"}`},
		{do: "POST /DB/_find", body: `{}`, status: 400, want: `{"error":"missing_required_key"}`}, {do: "POST /DB/_find", body: `{"selector":{},"sort":["n"]}`, status: 400, want: `{"error":"no_usable_index"}`},
	}},
}

// fiveDocs makes d0 to d4, deletes d3 and updates d1: sequences 1, 3, 5, 6, 7.
var fiveDocs = []step{
	{do: "PUT /DB/d0", body: `{"n":0}`, status: 201}, {do: "PUT /DB/d1", body: `{"n":1}`, status: 201, save: "d1"}, {do: "PUT /DB/d2", body: `{"n":2}`, status: 201},
	{do: "PUT /DB/d3", body: `{"n":3}`, status: 201, save: "d3"}, {do: "PUT /DB/d4", body: `{"n":4}`, status: 201},
	{do: "DELETE /DB/d3?rev={d3}", status: 200}, {do: "PUT /DB/d1", body: `{"_rev":"{d1}","n":10}`, status: 201},
}

var changesConversations = []conversation{
	{"changes", append(append([]step(nil), fiveDocs...), []step{
		{do: "GET /DB/_changes", status: 200, want: `{"=":0,"results":[{"=":0,"seq":"1-*","id":"d0","changes":[{"rev":"1-*"}]},{"seq":"3-*","id":"d2"},{"seq":"5-*","id":"d4"},
			{"seq":"6-*","id":"d3","deleted":true},{"seq":"7-*","id":"d1","changes":[{"rev":"2-*"}]}],"last_seq":"7-*","pending":0}`},
		{do: "GET /DB/_changes?limit=2", status: 200, want: `{"results":[{"id":"d0"},{"id":"d2"}],"last_seq":"3-*","pending":3}`},
		{do: "GET /DB/_changes?limit=0", status: 200, want: `{"results":[],"last_seq":"0-*","pending":5}`},
		{do: "GET /DB/_changes?descending=true&limit=2", status: 200, want: `{"results":[{"id":"d1"},{"id":"d3"}],"last_seq":"6-*","pending":3}`},
		{do: "GET /DB/_changes?descending=true", status: 200, want: `{"results":[{"id":"d1"},{"id":"d3"},{"id":"d4"},{"id":"d2"},{"id":"d0"}],"last_seq":"1-*","pending":0}`},
		{do: "GET /DB/_changes?since=now", status: 200, want: `{"results":[],"last_seq":"7-*","pending":0}`},
		{do: "GET /DB/_changes?since=abc", status: 400, want: `{"error":"bad_request","reason":"Malformed sequence supplied in 'since' parameter."}`},
		{do: `GET /DB/_changes?since="0"`, status: 400}, {do: "GET /DB/_changes?since=5", status: 400},
		{do: "GET /DB/_changes?include_docs=true&limit=1", status: 200, want: `{"results":[{"doc":{"_id":"d0","n":0}}]}`},
		{do: "GET /DB/_changes?seq_interval=3", status: 200, want: `{"results":[{"seq":null},{"seq":"3-*"},{"seq":null},{"seq":null},{"seq":"7-*"}]}`},
		{do: "GET /DB/_changes?feed=nope", status: 400}, {do: "GET /DB/_changes?feed=continuous&heartbeat=0", status: 400}, {do: "PUT /DB/_changes", status: 405, header: map[string]string{"Allow": "GET,POST,HEAD"}},
		{do: `GET /DB/_changes?filter=_doc_ids&doc_ids=["d1"]`, status: 200, want: `{"results":[{"id":"d1"}],"last_seq":"7-*"}`},
		{do: "POST /DB/_changes?filter=_doc_ids", body: `{"doc_ids":["d2","d4","zz"]}`, status: 200, want: `{"results":[{"id":"d2"},{"id":"d4"}]}`},
		{do: "GET /DB/_changes?filter=_doc_ids", status: 400}, {do: "GET /DB/_changes?filter=_selector", status: 400}, {do: "GET /DB/_changes?filter=_foo", status: 400},
		{do: "GET /DB/_changes?filter=ab", status: 400}, {do: "GET /DB/_changes?filter=a/b", status: 404}, {do: "GET /DB/_changes?filter=_view", status: 400},
		{do: "GET /DB/_changes?filter=_design", status: 200, want: `{"results":[]}`},
		{do: "POST /DB/_changes", body: `{}`, status: 200, want: `{"pending":0}`}, {do: "POST /DB/_changes", body: `x`, status: 400},
		{do: "GET /DB/_changes?feed=continuous&limit=1", status: 200}, {do: "GET /DB/_changes?feed=longpoll&limit=1", status: 200, want: `{"results":[{"id":"d0"}],"pending":4}`},
		{do: "GET /DB/_changes?feed=longpoll&since=now&timeout=10", status: 200, want: `{"results":[],"last_seq":"7-*"}`},
		{do: "GET /DB/_changes?feed=eventsource&timeout=10", status: 200, header: map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}},
	}...)},
	{"selectors", append(append([]step{
		{do: "POST /DB/_bulk_docs", body: `{"docs":[{"_id":"0","n":0,"t":{"a":[1,2,{"b":0}]},"s":"x0"},{"_id":"1","n":10},{"_id":"2","n":2,"t":{"a":[1,2,{"b":2}]},"s":"x2"},{"_id":"4","n":4,"t":{"a":[1,2,{"b":4}]},"s":"x4"},{"_id":"9"}]}`, status: 201}},
		selectors(map[string]string{
			`{"n":{"$gt":2}}`: "14", `{"n":2}`: "2", `{}`: "01249", `{"n":{"$in":[1,2,10]}}`: "12", `{"t.a.2.b":{"$gte":3}}`: "4", `{"t":{"a":{"$size":3}}}`: "024",
			`{"t.a":{"$all":[1,2]}}`: "024", `{"t.a":{"$elemMatch":{"b":{"$gt":1}}}}`: "24", `{"s":{"$regex":"x[12]"}}`: "2", `{"$or":[{"n":0},{"s":"x4"}]}`: "04",
			`{"$not":{"n":{"$gt":1}}}`: "0", `{"$nor":[{"n":{"$gt":3}},{"s":"x2"}]}`: "0", `{"n":{"$exists":false}}`: "9", `{"n":{"$exists":true}}`: "0124", `{"n":{"$type":"number"}}`: "0124",
			`{"n":{"$mod":[4,0]}}`: "04", `{"n":{"$not":{"$mod":[4,0]}}}`: "12", `{"_id":{"$lt":"2"}}`: "01", `{"n":{"$ne":2}}`: "014", `{"n":{"$nin":[2]}}`: "014", `{"$and":[]}`: "01249", `{"$or":[]}`: "01249",
			`{"n":{"$in":[]}}`: "", `{"n":{"$gt":1,"$lt":4}}`: "2", `{"s":{"$gt":null}}`: "024", `{"s":{"$beginsWith":"x"}}`: "024", `{"t":{"$keyMapMatch":{"$eq":"a"}}}`: "024",
			`{"n":{"$not":{"$gt":1,"$lt":4}}}`: "014", `{"t":{"a":[1,2,{"b":2}]}}`: "2",
		})...),
		step{do: "POST /DB/_changes?filter=_selector", body: `{"selector":{"n":{"$foo":1}}}`, status: 400, want: `{"reason":"Invalid operator: $foo"}`},
		step{do: "POST /DB/_changes?filter=_selector", body: `{"selector":{"n":{"$in":1}}}`, status: 400, want: `{"reason":"Bad argument for operator $in: 1"}`},
		step{do: "POST /DB/_changes?filter=_selector", body: `{"selector":5}`, status: 400, want: `{"reason":"Selector error: expected a JSON object"}`})},
}

// selectors are requests for the changes that a selector lets through, whose ids
// are one digit each.
func selectors(cases map[string]string) []step {
	var steps []step
	for s, ids := range cases {
		var rows []string
		for _, id := range ids {
			rows = append(rows, `{"id":"`+string(id)+`"}`)
		}
		steps = append(steps, step{do: "POST /DB/_changes?filter=_selector", body: `{"selector":` + s + `}`, status: 200, want: `{"results":[` + strings.Join(rows, ",") + `]}`})
	}
	return steps
}

var replicationConversations = []conversation{
	{"what is missing", []step{
		{do: "POST /DB/_bulk_docs", body: conflicted, status: 201},
		{do: "POST /DB/_revs_diff", body: `{"c":["2-b","2-zz","1-a","9-q"],"none":["1-a"],"same":[]}`, status: 200,
			want: `{"=":0,"c":{"=":0,"missing":["2-zz","9-q"],"possible_ancestors":["2-d","2-b","5-q","3-c"]},"none":{"=":0,"missing":["1-a"]}}`},
		{do: "POST /DB/_revs_diff", body: `{"c":["2-b"]}`, status: 200, text: "{}\n"}, {do: "POST /DB/_revs_diff", body: `{"c":["x"]}`, status: 400, want: `{"reason":"Invalid rev format"}`},
		{do: "POST /DB/_revs_diff", body: `[]`, status: 400}, {do: "GET /DB/_revs_diff", status: 405},
		{do: "POST /DB/_missing_revs", body: `{"c":["2-b","2-zz"]}`, status: 200, want: `{"=":0,"missing_revs":{"=":0,"c":["2-zz"]}}`},
	}},
	{"bulk get", []step{
		{do: "POST /DB/_bulk_docs", body: conflicted, status: 201},
		{do: "PUT /DB/att/x", headers: octets, body: "hello", status: 201, save: "x1"}, {do: "PUT /DB/att/y?rev={x1}", headers: octets, body: "hi", status: 201, save: "x2"},
		{do: "POST /DB/_bulk_get?revs=true", body: `{"docs":[{"id":"c","rev":"2-d"},{"id":"c","rev":"1-a"},{"id":"none"},{"id":"none","rev":"1-a"},{"id":"c","rev":"x"},{"rev":"1-a"},{"id":"_x"},{"id":"c","atts_since":1}]}`, status: 200,
			want: `{"results":[{"id":"c","docs":[{"ok":{"_id":"c","_rev":"2-d","_revisions":{"start":2,"ids":["d","a"]}}}]},
				{"id":"c","docs":[{"error":{"id":"c","rev":"1-a","error":"not_found","reason":"missing"}}]},
				{"id":"none","docs":[{"error":{"id":"none","rev":"undefined","error":"not_found"}}]},{"id":"none","docs":[{"error":{"rev":"1-a"}}]},
				{"id":"c","docs":[{"error":{"rev":"x","error":"bad_request","reason":"Invalid rev format"}}]},
				{"id":null,"docs":[{"error":{"error":"bad_request","reason":"document id missed"}}]},
				{"id":"_x","docs":[{"error":{"error":"illegal_docid"}}]},{"id":"c","docs":[{"error":{"rev":1,"error":"bad_request"}}]}]}`},
		{do: "POST /DB/_bulk_get?latest=true", body: `{"docs":[{"id":"c","rev":"1-a"}]}`, status: 200, want: `{"results":[{"docs":[{"ok":{"_rev":"2-b"}},{"ok":{"_rev":"2-d"}},{"ok":{"_rev":"3-c"}}]}]}`},
		{do: "POST /DB/_bulk_get?attachments=true", body: `{"docs":[{"id":"att"}]}`, status: 200, want: `{"results":[{"docs":[{"ok":{"_attachments":{"x":{"data":"aGVsbG8="},"y":{"data":"aGk="}}}}]}]}`},
		{do: "POST /DB/_bulk_get", body: `{"docs":[{"id":"att","rev":"{x2}","atts_since":["{x1}"]}]}`, status: 200, want: `{"results":[{"docs":[{"ok":{"_attachments":{"x":{"stub":true},"y":{"data":"aGk="}}}}]}]}`},
		{do: "POST /DB/_bulk_get", body: `{"docs":[]}`, status: 200, want: `{"results":[]}`}, {do: "POST /DB/_bulk_get", body: `{}`, status: 400}, {do: "GET /DB/_bulk_get", status: 405},
		{do: "POST /DB/_bulk_get?rev=1-a", body: `{"docs":[]}`, status: 400, want: `{"reason":"\"rev\" query parameter is not acceptable"}`},
	}},
}
