#include "live.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "frames.h"

using namespace generated;

namespace {

// Frames that wait for the wire; more are left to the kernel.
constexpr size_t max_waiting_frames = 64;
// Of any datagram: what is too long for Ethernet is the SoC's to refuse.
constexpr size_t max_datagram_bytes = 65536;
// Typed characters that wait for the serial port; more are left to the terminal.
constexpr size_t max_waiting_characters = 256;
constexpr uint8_t ctrl_right_bracket = 0x1D;

void make_nonblocking(int fd) {
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
        throw std::runtime_error("cannot use file descriptor " + std::to_string(fd));
    }
}

}  // namespace

LiveNetwork::LiveNetwork(int fd) : fd_(fd) {
    make_nonblocking(fd);
    int type = 0;
    socklen_t bytes = sizeof type;
    is_socket_ = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0;
}

void LiveNetwork::poll() {
    uint8_t buffer[max_datagram_bytes];
    while (frames_.size() < max_waiting_frames) {
        ssize_t count;
        if (is_socket_) {
            sockaddr_un sender{};
            socklen_t sender_bytes = sizeof sender;
            count = recvfrom(fd_, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&sender),
                             &sender_bytes);
            if (count > 0 && sender_bytes > sizeof(sa_family_t)) {
                peer_ = sender;
                peer_bytes_ = sender_bytes;
            }
        } else {
            count = read(fd_, buffer, sizeof buffer);
        }
        if (count <= 0) return;
        const FrameIn header{0, static_cast<uint32_t>(count), default_gap_nibbles, 0,
                             default_preamble_bytes};
        frames_.push_back(Frame{header, {buffer, buffer + count}});
    }
}

bool LiveNetwork::next(Frame& frame) {
    if (frames_.empty()) return false;
    frame = std::move(frames_.front());
    frames_.pop_front();
    return true;
}

void LiveNetwork::frame(const FrameOut& header, std::span<const uint8_t> bytes) {
    // A real interface would drop it too.
    if (header.errors & frame_error_fcs) return;
    // What the kernel can't take is lost, as on a real wire.
    ssize_t sent = 0;
    if (!is_socket_) {
        sent = write(fd_, bytes.data(), bytes.size());
    } else if (peer_bytes_) {
        sent = sendto(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL,
                      reinterpret_cast<const sockaddr*>(&peer_), peer_bytes_);
    }
    if (sent < 0 && errno == EBADF) throw std::runtime_error("the network went away");
}

Console::Console(UartSender& sender, uint32_t bit_q8, bool ends)
    : sender_(sender), bit_q8_(bit_q8), ends_(ends) {
    make_nonblocking(STDIN_FILENO);
}

bool Console::poll(int64_t cycle) {
    while (input_open_ && sender_.waiting(0) < max_waiting_characters) {
        uint8_t character;
        const ssize_t count = read(STDIN_FILENO, &character, 1);
        if (count == 0) input_open_ = false;
        if (count <= 0) break;
        if (ends_ && character == ctrl_right_bracket) return false;
        // Start bit 0, eight data bits, stop bit 1.
        const uint32_t pattern = 0x200u | static_cast<uint32_t>(character) << 1;
        sender_.add(UartIn{static_cast<uint64_t>(cycle), pattern, bit_q8_, 10, 0});
    }
    return true;
}

void Console::show(uint8_t character) {
    while (write(STDOUT_FILENO, &character, 1) < 0) {
        if (errno == EAGAIN) {
            // With the input the output does not block either; the board waits for the terminal.
            pollfd waiting{STDOUT_FILENO, POLLOUT, 0};
            ::poll(&waiting, 1, -1);
        } else if (errno != EINTR) {
            throw std::runtime_error("the terminal went away");
        }
    }
}
