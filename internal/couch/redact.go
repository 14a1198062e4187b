package couch

import "regexp"

// userinfoInText finds the user's part of whatever looks like a URL in a text,
// up to the last '@' that can belong to it.
var userinfoInText = regexp.MustCompile(`(?i)\b(https?://)[^\s"<>]*@`)

// Redact removes user and password from every URL in a text.
func Redact(s string) string { return userinfoInText.ReplaceAllString(s, "$1") }
