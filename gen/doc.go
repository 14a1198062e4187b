// Package gen makes deterministic content: attachment bytes, JSON documents,
// attachment names, and the sizes they are asked for in. What it makes
// depends on its arguments alone, so a run can be repeated byte for byte on
// another machine, and a digest can be computed once for all methods.
//
// It must not know what the content is for: no server, no method, no timing.
package gen
