// Package upload measures how fast a server takes attachments: the upload
// methods, and the runner that takes samples of their cells.
//
// A Method builds the request of one upload API. A sample sends it, splits
// the time it took into phases and compares what the server stored. Run takes
// the samples of a Plan, round after round, and writes them to a sink.
//
// It must not know how a result is shown or summarised, nor print anything:
// that is for packages results and cmd.
package upload
