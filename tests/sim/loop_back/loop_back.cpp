// The harness's senders wired to its receivers: what it sends is what it must see.
//
//   loop_back ethernet FRAMES FRAMES_OUT EDGES    one edge a cycle
//   loop_back uart CHARACTERS CHARACTERS_OUT CYCLES PORT:BIT_Q8:DATA_BITS:PARITY ...
//   loop_back wire CHARACTERS_OF_SOC,CHARACTERS,MASK CHARACTERS_OUT CYCLES PORT:... ...
#include <cstdlib>
#include <string>

#include "events.h"
#include "frame_files.h"
#include "mii_receiver.h"
#include "mii_sender.h"
#include "uart_receiver.h"
#include "uart_sender.h"

// The pins alone: this program never evaluates anything.
class Waveform {};
Model::Model() : top_(std::make_unique<Vsim>()) { set_uarts_rx((1u << generated::uarts) - 1); }
Model::~Model() = default;

namespace {

// The other ends of the wires.
Vsim outputs;

void loop_ethernet(const char* in, const char* out, int64_t edges) {
    Model model;
    FrameFile frames{RecordReader(in)};
    RecordWriter nowhere("");
    FrameLog log(out, "");
    MiiSender sender(model, frames, nowhere);
    MiiReceiver receiver(outputs, log);
    for (int64_t cycle = 0; cycle < edges; cycle++) {
        receiver.before_edge(cycle);
        sender.after_edge(cycle);
        outputs.eth_tx_en = model.pins().eth_rx_dv;
        outputs.eth_tx_data = model.pins().eth_rx_data;
    }
}

UartFormat format(const std::string& text) {
    unsigned port, bits, data_bits, parity;
    std::sscanf(text.c_str(), "%u:%u:%u:%u", &port, &bits, &data_bits, &parity);
    return {bits, data_bits, static_cast<Parity>(parity)};
}

void loop_uart(const char* in, const char* out, int64_t cycles, const std::vector<UartFormat>& formats) {
    Model model;
    RecordWriter log(out);
    outputs.uarts_tx = model.pins().uarts_rx;
    Wires wires(model, {});
    UartSender sender(wires);
    UartReceiver receiver(outputs, formats,
                          [&log](const generated::UartOut& character) { log.record(character); });
    sender.load(RecordReader(in));
    Agenda agenda;
    agenda.add(receiver);
    agenda.update();
    for (int64_t cycle = 0; cycle < cycles; cycle++) {
        if (sender.due() <= cycle) sender.fire(cycle);
        if (outputs.uarts_tx != model.pins().uarts_rx) {
            outputs.uarts_tx = model.pins().uarts_rx;
            receiver.edges(cycle);
            agenda.update();
        }
        if (agenda.due() <= cycle) agenda.run(cycle);
    }
}

// What ports on a wire receive, while the SoC sends on them too.
void loop_wire(const std::string& in, const char* out, int64_t cycles,
               const std::vector<UartFormat>& formats) {
    const size_t first = in.find(','), second = in.rfind(',');
    Model soc, model;
    RecordWriter log(out);
    Wires soc_wires(soc, {});
    Wires wires(model, {static_cast<uint32_t>(std::stoul(in.substr(second + 1)))});
    UartSender soc_sender(soc_wires), sender(wires);
    soc_sender.load(RecordReader(in.substr(0, first)));
    sender.load(RecordReader(in.substr(first + 1, second - first - 1)));
    outputs.uarts_tx = model.pins().uarts_rx;
    UartReceiver receiver(outputs, formats,
                          [&log](const generated::UartOut& character) { log.record(character); });
    Agenda agenda;
    agenda.add(receiver);
    agenda.add(sender);
    agenda.add(soc_sender);
    agenda.update();
    for (int64_t cycle = 0; cycle < cycles; cycle++) {
        agenda.run(cycle);
        wires.follow(soc.pins().uarts_rx);
        if (outputs.uarts_tx != model.pins().uarts_rx) {
            outputs.uarts_tx = model.pins().uarts_rx;
            receiver.edges(cycle);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    const int64_t length = std::atoll(argv[4]);
    if (std::string(argv[1]) == "ethernet") {
        loop_ethernet(argv[2], argv[3], length);
        return 0;
    }
    std::vector<UartFormat> formats;
    for (int i = 5; i < argc; i++) formats.push_back(format(argv[i]));
    if (std::string(argv[1]) == "wire") {
        loop_wire(argv[2], argv[3], length, formats);
    } else {
        loop_uart(argv[2], argv[3], length, formats);
    }
    return 0;
}
