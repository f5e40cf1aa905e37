#include "mailbox.h"

using namespace generated;

void Mailbox::write(int64_t cycle, uint32_t offset, uint32_t data) {
    log_.record(MailboxOut{static_cast<uint64_t>(cycle), offset, data});
    switch (offset) {
    case mailbox_exit:
        exit_code_ = data;
        break;
    case mailbox_line_ack:
        lines_.acknowledge(cycle, data);
        break;
    case mailbox_putc:
        if (shown_) std::fputc(static_cast<int>(data & 0xFF), shown_);
        break;
    default:
        break;
    }
}
