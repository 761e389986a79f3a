#include "reference/collectives/references.hpp"

namespace rankcheck::reference::barrier {

/// Appends nothing: a barrier moves no values.
void reference(const spec::Call& /*call*/, int /*rank*/, std::vector<Piece>& /*pieces*/) {}

}  // namespace rankcheck::reference::barrier
