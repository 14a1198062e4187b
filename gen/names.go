package gen

import "strconv"

// AttachmentName returns the plain name of an attachment, such as
// "attachment-0.bin".
func AttachmentName(number int) string {
	return "attachment-" + strconv.Itoa(number) + ".bin"
}

// AwkwardNames lists names that are legal and easily mangled: a server must
// give them back byte for byte (fact 10).
func AwkwardNames() []string {
	return []string{"a+b", "a b", "d/e/f", "100%.bin", "Kолян.txt"}
}
